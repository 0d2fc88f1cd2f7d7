/*
 * Measures one process for the profile: sums by element, world size and rank, the hooks that add to them, and the
 * record that process 0 gets.
 */
#include "driver/profile/measure.h"

#include <epop/elastic.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/thread.h"
#include "runtime/base/ticks.h"
#include "runtime/job/job.h"
#include "runtime/loops/follower.h"

#define PAUSE 0.1 /* seconds in which loops are looked at once at most, while an element runs */

/* ---- The sums: a cell for each element, world size and rank; a row for each adaptation ---------- */

/* Calls of one MPI function, or laps of one loop. */
struct sum {
    int of;                    /* the function, or the lap */
    int64_t count, ticks, mpi; /* mpi: of the ticks, those in MPI; 0 of a function */
};

struct sums {
    struct sum *sums;
    int count;
    size_t room;
};

struct cell {
    int pc, size, rank;
    int64_t visits, iterations, ticks;
    struct sums mpi, loops;
};

/* What an adaptation was to this process. */
struct row {
    int id;
    double opened;            /* seconds since 1970 */
    int64_t ticks, mpi_ticks; /* in the adapt block */
    int64_t init_ticks;       /* of a joining process; else -1 */
    int64_t sent, received, least;
    cJSON *to;     /* [process, bytes] each */
    cJSON *arrays; /* [name, sent, received, least, ahead] each */
};

/* A stretch in which it was that rank. */
struct part {
    int rank, size;
    double begin, end; /* seconds since 1970; end 0: still */
};

struct cells {
    struct cell *cells;
    int cell_count;
    size_t cell_room;
    struct row *rows;
    int row_count;
    size_t row_room;
    struct part *parts;
    int part_count;
    size_t part_room;
};

/* Room for one more; false when out of memory. */
static bool make_room_for_one(void *items, int count, size_t *room, size_t size)
{
    return array_reserve(items, room, (size_t)count + 1, size) == 0;
}

/* The cell, made if there is none yet. NULL when out of memory. It stays where it is until the next one is made. */
static struct cell *cells_at(struct cells *cells, int pc, int size, int rank)
{
    for (int i = cells->cell_count - 1; i >= 0; i--) {
        struct cell *cell = &cells->cells[i];
        if (cell->pc == pc && cell->size == size && cell->rank == rank)
            return cell;
    }
    if (!make_room_for_one(&cells->cells, cells->cell_count, &cells->cell_room, sizeof *cells->cells))
        return NULL;
    struct cell *cell = &cells->cells[cells->cell_count++];
    *cell = (struct cell){.pc = pc, .size = size, .rank = rank};
    return cell;
}

static struct row *cells_add_row(struct cells *cells)
{
    if (!make_room_for_one(&cells->rows, cells->row_count, &cells->row_room, sizeof *cells->rows))
        return NULL;
    struct row *row = &cells->rows[cells->row_count++];
    *row = (struct row){.init_ticks = -1};
    return row;
}

/* From now on this process is that rank. */
static void cells_become(struct cells *cells, int rank, int size, double now)
{
    struct part *last = cells->part_count ? &cells->parts[cells->part_count - 1] : NULL;
    if (last && last->rank == rank && last->size == size)
        return;
    if (last && last->end == 0)
        last->end = now;
    if (make_room_for_one(&cells->parts, cells->part_count, &cells->part_room, sizeof *cells->parts))
        cells->parts[cells->part_count++] = (struct part){rank, size, now, 0};
}

static void sums_add(struct sums *list, struct sum more)
{
    for (int i = 0; i < list->count; i++) {
        struct sum *sum = &list->sums[i];
        if (sum->of != more.of)
            continue;
        sum->count += more.count;
        sum->ticks += more.ticks;
        sum->mpi += more.mpi;
        return;
    }
    if (make_room_for_one(&list->sums, list->count, &list->room, sizeof *list->sums))
        list->sums[list->count++] = more;
}

/* ---- Copies, for records while it goes on ------------------------------------------------------- */

static void *copy_array(const void *array, int count, size_t size)
{
    void *same = count ? malloc((size_t)count * size) : NULL;
    if (same)
        memcpy(same, array, (size_t)count * size);
    return same;
}

static void copy_sums(struct sums *list)
{
    list->sums = copy_array(list->sums, list->count, sizeof *list->sums);
    list->count = list->sums ? list->count : 0;
    list->room = (size_t)list->count;
}

/* A deep copy, to which more can be added; NULL when out of memory. */
static struct cells *cells_copy(const struct cells *cells)
{
    struct cells *same = calloc(1, sizeof *same);
    if (!same)
        return NULL;
    same->cells = copy_array(cells->cells, cells->cell_count, sizeof *cells->cells);
    same->cell_count = same->cells ? cells->cell_count : 0;
    same->cell_room = (size_t)same->cell_count;
    for (int i = 0; i < same->cell_count; i++) {
        copy_sums(&same->cells[i].mpi);
        copy_sums(&same->cells[i].loops);
    }
    same->rows = copy_array(cells->rows, cells->row_count, sizeof *cells->rows);
    same->row_count = same->rows ? cells->row_count : 0;
    same->row_room = (size_t)same->row_count;
    for (int i = 0; i < same->row_count; i++) {
        same->rows[i].to = cJSON_Duplicate(cells->rows[i].to, 1);
        same->rows[i].arrays = cJSON_Duplicate(cells->rows[i].arrays, 1);
    }
    same->parts = copy_array(cells->parts, cells->part_count, sizeof *cells->parts);
    same->part_count = same->parts ? cells->part_count : 0;
    same->part_room = (size_t)same->part_count;
    return same;
}

static void cells_clear(struct cells *cells)
{
    for (int i = 0; i < cells->cell_count; i++) {
        free(cells->cells[i].mpi.sums);
        free(cells->cells[i].loops.sums);
    }
    for (int i = 0; i < cells->row_count; i++) {
        cJSON_Delete(cells->rows[i].to);
        cJSON_Delete(cells->rows[i].arrays);
    }
    free(cells->cells);
    free(cells->rows);
    free(cells->parts);
    *cells = (struct cells){0};
}

/* ---- What is being measured --------------------------------------------------------------------- */

/* The stretch that is under way: in an element at one size, or in an adapt block. */
static struct {
    pthread_mutex_t lock; /* the program's thread holds it where a stretch begins and ends */
    struct cells cells;
    enum { NOWHERE, IN_ELEMENT, IN_BLOCK } kind;
    struct cell key;                 /* of the element */
    const epop_position_t *position; /* the walk's own: its iteration counts on */
    int64_t first_iteration;
    int64_t begin;      /* ticks */
    struct row block;   /* of the last adapt block, until it is known what it moved */
    int64_t init_ticks; /* a joining process has been in INIT so long; -1: it does not join */
    bool joining;       /* it has not come to its place yet */
} m = {.lock = PTHREAD_MUTEX_INITIALIZER, .init_ticks = -1};

/* The MPI calls and the loops of the stretch. Written by the program's thread alone, without a lock. */
struct running {
    _Atomic int64_t count, ticks, mpi;
};
struct touched { /* those that are not zero */
    int which[INTERPOSE_FUNCTIONS > LOOPS_LAPS ? INTERPOSE_FUNCTIONS : LOOPS_LAPS];
    _Atomic int count;
};
static struct running mpi[INTERPOSE_FUNCTIONS], loops[LOOPS_LAPS];
static struct touched called, turned;

static struct follower follower;
static int64_t pause_ticks; /* from one look at what was found to the next */

static _Atomic int64_t entered; /* ticks; 0: not in MPI */
static _Atomic int entered_function;

static _Atomic int64_t in_mpi; /* ticks, of all stretches */

static _Thread_local bool is_walker;

/* ---- MPI calls ---------------------------------------------------------------------------------- */

/* Additions without a locked instruction: nobody else writes. */
static void add_relaxed(_Atomic int64_t *sum, int64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

static void add_one(struct running *running, struct touched *list, int which, int64_t time, int64_t in_it)
{
    struct running *sum = &running[which];
    add_relaxed(&sum->ticks, time);
    add_relaxed(&sum->mpi, in_it);
    if (atomic_load_explicit(&sum->count, memory_order_relaxed) == 0) {
        int count = atomic_load_explicit(&list->count, memory_order_relaxed);
        list->which[count] = which;
        atomic_store_explicit(&list->count, count + 1, memory_order_release);
    }
    add_relaxed(&sum->count, 1);
}

static void enter_mpi(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context, (void)arguments;
    if (!is_walker)
        return;
    int64_t now = ticks();
    atomic_store_explicit(&entered_function, (int)function, memory_order_relaxed);
    atomic_store_explicit(&entered, now, memory_order_relaxed);
    if (m.kind != IN_ELEMENT)
        return;
    struct loops_ended lap =
        follower_called(&follower, function, now, atomic_load_explicit(&in_mpi, memory_order_relaxed), pause_ticks);
    if (lap.lap != LOOPS_NONE)
        add_one(loops, &turned, lap.lap, lap.loop, lap.mpi);
}

static void leave_mpi(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context, (void)arguments, (void)result;
    int64_t begin = atomic_load_explicit(&entered, memory_order_relaxed);
    if (!is_walker || !begin)
        return;
    int64_t time = ticks() - begin;
    add_relaxed(&in_mpi, time);
    atomic_store_explicit(&entered, 0, memory_order_relaxed);
    add_one(mpi, &called, (int)function, time, 0);
}

static const struct interpose_hooks mpi_hooks = {.enter = enter_mpi, .leave = leave_mpi};

static double seconds_in_mpi(void)
{
    return (double)atomic_load_explicit(&in_mpi, memory_order_relaxed) * ticks_seconds();
}

void measure_start(void)
{
    ticks_start();
    pause_ticks = (int64_t)(PAUSE / ticks_seconds());
    epop__job_mpi_time(seconds_in_mpi);
    epop__interpose_observe(&mpi_hooks);
}

void measure_stop(void)
{
    epop__job_mpi_time(NULL);
    epop__interpose_unobserve(&mpi_hooks);
}

/* ---- Stretches: with the lock held -------------------------------------------------------------- */

static struct sum read_running(const struct running *running, int which)
{
    const struct running *sum = &running[which];
    return (struct sum){which, atomic_load(&sum->count), atomic_load(&sum->ticks), atomic_load(&sum->mpi)};
}

/* The present MPI calls to a list, or NULL; their time. The one that is under way counts up to now. */
static int64_t take_calls(struct sums *list, int64_t now)
{
    int64_t time = 0, begin = atomic_load(&entered);
    int count = atomic_load_explicit(&called.count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        struct sum sum = read_running(mpi, called.which[i]);
        time += sum.ticks;
        if (list)
            sums_add(list, sum);
    }
    if (begin > 0 && now > begin) {
        time += now - begin;
        if (list)
            sums_add(list, (struct sum){.of = atomic_load(&entered_function), .ticks = now - begin});
    }
    return time;
}

static void take_loops(struct sums *list)
{
    int count = atomic_load_explicit(&turned.count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        sums_add(list, read_running(loops, turned.which[i]));
}

static void forget(struct running *running, struct touched *list)
{
    for (int i = 0; i < list->count; i++) {
        struct running *sum = &running[list->which[i]];
        atomic_store(&sum->count, 0);
        atomic_store(&sum->ticks, 0);
        atomic_store(&sum->mpi, 0);
    }
    list->count = 0;
}

static void open_stretch(int kind)
{
    forget(mpi, &called);
    forget(loops, &turned);
    follower_begin_anew(&follower);
    m.kind = kind;
    m.begin = ticks();
}

/* Adds what the present stretch has come to, up to `now`. */
static void add_stretch(struct cells *cells, int64_t now, int64_t iteration)
{
    struct cell *cell = cells_at(cells, m.key.pc, m.key.size, m.key.rank);
    if (!cell)
        return;
    cell->ticks += now - m.begin;
    cell->iterations += iteration - m.first_iteration;
    take_calls(&cell->mpi, now);
    take_loops(&cell->loops);
}

static void close_element(const epop_position_t *position)
{
    if (m.kind == IN_ELEMENT)
        add_stretch(&m.cells, ticks(), position->iteration);
    follower_compare(&follower);
    m.kind = NOWHERE;
    m.position = NULL;
}

static void open_element(const epop_position_t *position, bool visit)
{
    m.key = (struct cell){.pc = position->pc, .size = position->size, .rank = position->rank};
    struct cell *cell = cells_at(&m.cells, m.key.pc, m.key.size, m.key.rank);
    if (cell)
        cell->visits += visit;
    cells_become(&m.cells, m.key.rank, m.key.size, wall_seconds());
    m.first_iteration = position->iteration;
    m.position = position;
    open_stretch(IN_ELEMENT);
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

void measure_enter(void *state, const epop_position_t *position)
{
    (void)state;
    is_walker = true;
    pthread_mutex_lock(&m.lock);
    if (position->pc == 0)
        m.joining = epop_status() == EPOP_JOINING;
    if (m.joining && position->pc == 0)
        m.init_ticks = ticks();
    else if (!m.joining)
        open_element(position, true);
    pthread_mutex_unlock(&m.lock);
}

void measure_iteration(void *state, const epop_position_t *position)
{
    (void)state, (void)position;
    follower_begin_anew(&follower);
}

void measure_leave(void *state, const epop_position_t *position)
{
    (void)state;
    pthread_mutex_lock(&m.lock);
    if (m.joining)
        m.init_ticks = ticks() - m.init_ticks;
    close_element(position);
    pthread_mutex_unlock(&m.lock);
}

void measure_hold_begin(void *state, const epop_position_t *position)
{
    (void)state;
    pthread_mutex_lock(&m.lock);
    close_element(position);
    pthread_mutex_unlock(&m.lock);
}

void measure_hold_end(void *state, const epop_position_t *position)
{
    (void)state;
    pthread_mutex_lock(&m.lock);
    m.joining = false;
    if (position->rank >= 0)
        open_element(position, false);
    pthread_mutex_unlock(&m.lock);
}

void measure_adaptation_begin(void *state, const epop_position_t *position)
{
    (void)state, (void)position;
    pthread_mutex_lock(&m.lock);
    m.block = (struct row){.opened = wall_seconds(), .init_ticks = m.joining ? m.init_ticks : -1};
    open_stretch(IN_BLOCK);
    pthread_mutex_unlock(&m.lock);
}

static void add_traffic(struct row *row, const epop_adapted_t *adapted)
{
    row->to = cJSON_CreateArray();
    row->least = adapted->least;
    for (int i = 0; i < adapted->traffic_count; i++) {
        const epop_traffic_t *t = &adapted->traffic[i];
        row->sent += t->sent;
        row->received += t->received;
        if (t->sent)
            cJSON_AddItemToArray(row->to, cJSON_CreateDoubleArray((double[]){t->process, (double)t->sent}, 2));
    }
}

static void add_arrays(struct row *row, const epop_adapted_t *adapted)
{
    row->arrays = cJSON_CreateArray();
    for (int i = 0; i < adapted->array_count; i++) {
        const epop_array_traffic_t *a = &adapted->arrays[i];
        const int64_t numbers[] = {a->sent, a->received, a->least, a->ahead};
        cJSON *one = cJSON_CreateArray();
        cJSON_AddItemToArray(one, cJSON_CreateString(a->name));
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            cJSON_AddItemToArray(one, cJSON_CreateNumber((double)numbers[n]));
        cJSON_AddItemToArray(row->arrays, one);
    }
}

void measure_adapted(void *state, const epop_position_t *position, const epop_adapted_t *adapted)
{
    (void)state, (void)position;
    pthread_mutex_lock(&m.lock);
    struct row *row = cells_add_row(&m.cells);
    int64_t now = ticks();
    if (row) {
        *row = m.block;
        row->id = adapted->adaptation;
        row->ticks = now - m.begin;
        row->mpi_ticks = take_calls(NULL, now);
        add_traffic(row, adapted);
        add_arrays(row, adapted);
    }
    m.kind = NOWHERE;
    pthread_mutex_unlock(&m.lock);
}

void measure_failed(void *state, const epop_position_t *position, int error)
{
    (void)error;
    measure_hold_begin(state, position);
}

/* ---- The record, as it travels to process 0 ----------------------------------------------------- */

/* By name: numbers of functions depend on the mpi.h that each was built with. */
static cJSON *calls_json(const struct sums *list, double tick)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < list->count; i++) {
        const struct sum *calls = &list->sums[i];
        cJSON *one = cJSON_CreateArray();
        cJSON_AddItemToArray(one, cJSON_CreateString(epop__interpose_name((enum interpose_function)calls->of)));
        cJSON_AddItemToArray(one, cJSON_CreateNumber((double)calls->count));
        cJSON_AddItemToArray(one, cJSON_CreateNumber((double)calls->ticks * tick));
        cJSON_AddItemToArray(array, one);
    }
    return array;
}

/* By lap. */
static cJSON *laps_json(const struct sums *list, double tick)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < list->count; i++) {
        const struct sum *laps = &list->sums[i];
        const double numbers[] = {laps->of, (double)laps->count, (double)laps->ticks * tick, (double)laps->mpi * tick};
        cJSON_AddItemToArray(array, cJSON_CreateDoubleArray(numbers, 4));
    }
    return array;
}

/* What is known of this process's loops, by their laps: where they are, and by what they are the same on other ranks.
 */
static cJSON *loops_json(void)
{
    cJSON *array = cJSON_CreateArray();
    for (int lap = 0; lap < LOOPS_LAPS; lap++) {
        cJSON *one = cJSON_CreateObject();
        char key[17];
        int outer = follower_outer(&follower, lap);
        if (!follower_describe(&follower, lap, one)) {
            cJSON_Delete(one);
            continue;
        }
        snprintf(key, sizeof key, "%016" PRIx64, follower_key(&follower, lap));
        cJSON_AddNumberToObject(one, "lap", lap);
        cJSON_AddStringToObject(one, "key", key);
        if (outer != LOOPS_NONE)
            cJSON_AddNumberToObject(one, "outer", outer);
        cJSON_AddItemToArray(array, one);
    }
    return array;
}

static cJSON *cell_json(const struct cell *cell, double tick)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", cell->pc);
    cJSON_AddNumberToObject(json, "size", cell->size);
    cJSON_AddNumberToObject(json, "rank", cell->rank);
    cJSON_AddNumberToObject(json, "visits", (double)cell->visits);
    cJSON_AddNumberToObject(json, "iterations", (double)cell->iterations);
    cJSON_AddNumberToObject(json, "time", (double)cell->ticks * tick);
    cJSON_AddItemToObject(json, "mpi", calls_json(&cell->mpi, tick));
    cJSON_AddItemToObject(json, "loops", laps_json(&cell->loops, tick));
    return json;
}

static cJSON *row_json(const struct row *row, double tick)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "id", row->id);
    cJSON_AddNumberToObject(json, "opened", row->opened);
    cJSON_AddNumberToObject(json, "time", (double)row->ticks * tick);
    cJSON_AddNumberToObject(json, "mpi", (double)row->mpi_ticks * tick);
    if (row->init_ticks >= 0)
        cJSON_AddNumberToObject(json, "init", (double)row->init_ticks * tick);
    cJSON_AddNumberToObject(json, "sent", (double)row->sent);
    cJSON_AddNumberToObject(json, "received", (double)row->received);
    cJSON_AddNumberToObject(json, "least", (double)row->least);
    cJSON_AddItemToObject(json, "to", cJSON_Duplicate(row->to, 1));
    cJSON_AddItemToObject(json, "arrays", cJSON_Duplicate(row->arrays, 1));
    return json;
}

static cJSON *part_json(const struct part *part, double now)
{
    const double numbers[] = {part->rank, part->size, part->begin, part->end > 0 ? part->end : now};
    return cJSON_CreateDoubleArray(numbers, 4);
}

/* The record of a process; tick: seconds of one. */
static cJSON *cells_json(const struct cells *cells, double tick, double now)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "host", host_own());
    cJSON_AddNumberToObject(json, "pid", getpid());
    cJSON *parts = cJSON_AddArrayToObject(json, "ranks");
    for (int i = 0; i < cells->part_count; i++)
        cJSON_AddItemToArray(parts, part_json(&cells->parts[i], now));
    cJSON *list = cJSON_AddArrayToObject(json, "cells");
    for (int i = 0; i < cells->cell_count; i++)
        cJSON_AddItemToArray(list, cell_json(&cells->cells[i], tick));
    cJSON_AddItemToObject(json, "loops", loops_json());
    list = cJSON_AddArrayToObject(json, "adaptations");
    for (int i = 0; i < cells->row_count; i++)
        cJSON_AddItemToArray(list, row_json(&cells->rows[i], tick));
    return json;
}

/* With the lock held: the sums, and the stretch that is not over. */
static cJSON *present_json(void)
{
    struct cells *all = cells_copy(&m.cells);
    if (!all)
        return NULL;
    if (m.kind == IN_ELEMENT)
        add_stretch(all, ticks(), __atomic_load_n(&m.position->iteration, __ATOMIC_RELAXED));
    cJSON *json = cells_json(all, ticks_seconds(), wall_seconds());
    cells_clear(all);
    free(all);
    return json;
}

char *measure_record(void *state, int last)
{
    (void)state;
    if (thread_lock_within(&m.lock, 1))
        return NULL; /* its holder has crashed */
    cJSON *json = m.cells.part_count ? present_json() : NULL;
    if (last)
        cells_clear(&m.cells);
    pthread_mutex_unlock(&m.lock);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    return text;
}
