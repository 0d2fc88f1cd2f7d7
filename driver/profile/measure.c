/* Measuring one process: see measure.h. */
#include "driver/profile/measure.h"

#include <epop/elastic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "driver/profile/cells.h"
#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/base/ticks.h"
#include "runtime/job/job.h"

/* The stretch that is being measured: in an element at one size, or in an adapt block. */
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

/* The MPI calls of the stretch. Written by the program's thread alone, without a lock. */
static struct {
    _Atomic int64_t count, ticks;
} mpi[INTERPOSE_FUNCTIONS];
static int touched[INTERPOSE_FUNCTIONS];
static _Atomic int touched_count;
static _Atomic int64_t entered; /* ticks; 0: not in MPI */
static _Atomic int entered_function;

static _Atomic int64_t in_mpi; /* ticks, of all stretches */

static _Thread_local bool is_walker;

/* ---- MPI calls ---------------------------------------------------------------------------- */

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context, (void)arguments;
    if (!is_walker)
        return;
    atomic_store_explicit(&entered_function, (int)function, memory_order_relaxed);
    atomic_store_explicit(&entered, ticks(), memory_order_relaxed);
}

/* Additions without a locked instruction: nobody else writes. */
static void add(_Atomic int64_t *sum, int64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context, (void)arguments, (void)result;
    int64_t begin = atomic_load_explicit(&entered, memory_order_relaxed);
    if (!is_walker || !begin)
        return;
    int64_t time = ticks() - begin;
    add(&mpi[function].ticks, time);
    add(&in_mpi, time);
    atomic_store_explicit(&entered, 0, memory_order_relaxed);
    if (atomic_load_explicit(&mpi[function].count, memory_order_relaxed) == 0) {
        int count = atomic_load_explicit(&touched_count, memory_order_relaxed);
        touched[count] = (int)function;
        atomic_store_explicit(&touched_count, count + 1, memory_order_release);
    }
    add(&mpi[function].count, 1);
}

static const struct interpose_hooks hooks = {.enter = enter, .leave = leave};

static double seconds_in_mpi(void)
{
    return (double)atomic_load_explicit(&in_mpi, memory_order_relaxed) * ticks_seconds();
}

void measure_start(void)
{
    ticks_start();
    epop__job_mpi_time(seconds_in_mpi);
    epop__interpose_observe(&hooks);
}

void measure_stop(void)
{
    epop__job_mpi_time(NULL);
    epop__interpose_unobserve(&hooks);
}

/* ---- Stretches: with the lock held ----------------------------------------------------------- */

/* The present MPI calls to a list; their time. The one that is under way counts up to now. */
static int64_t take_calls(struct call_list *list, int64_t now)
{
    int64_t sum = 0, begin = atomic_load(&entered);
    int count = atomic_load_explicit(&touched_count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        int64_t time = atomic_load(&mpi[touched[i]].ticks);
        sum += time;
        if (list)
            cells_add_calls(list, touched[i], atomic_load(&mpi[touched[i]].count), time);
    }
    if (begin > 0 && now > begin) {
        sum += now - begin;
        if (list)
            cells_add_calls(list, atomic_load(&entered_function), 0, now - begin);
    }
    return sum;
}

static void forget_calls(void)
{
    for (int i = 0; i < touched_count; i++) {
        atomic_store(&mpi[touched[i]].count, 0);
        atomic_store(&mpi[touched[i]].ticks, 0);
    }
    touched_count = 0;
}

static void open_stretch(int kind)
{
    forget_calls();
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
}

static void close_element(const epop_position_t *position)
{
    if (m.kind == IN_ELEMENT)
        add_stretch(&m.cells, ticks(), position->iteration);
    m.kind = NOWHERE;
    m.position = NULL;
}

static void open_element(const epop_position_t *position, bool visit)
{
    m.key = (struct cell){.pc = position->pc, .size = position->size, .rank = position->rank};
    struct cell *cell = cells_at(&m.cells, m.key.pc, m.key.size, m.key.rank);
    if (cell)
        cell->visits += visit;
    cells_be(&m.cells, m.key.rank, m.key.size, wall_seconds());
    m.first_iteration = position->iteration;
    m.position = position;
    open_stretch(IN_ELEMENT);
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

void measure_enter(const epop_position_t *position)
{
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

void measure_leave(const epop_position_t *position)
{
    pthread_mutex_lock(&m.lock);
    if (m.joining)
        m.init_ticks = ticks() - m.init_ticks;
    close_element(position);
    pthread_mutex_unlock(&m.lock);
}

void measure_hold_begin(const epop_position_t *position)
{
    pthread_mutex_lock(&m.lock);
    close_element(position);
    pthread_mutex_unlock(&m.lock);
}

void measure_hold_end(const epop_position_t *position)
{
    pthread_mutex_lock(&m.lock);
    m.joining = false;
    if (position->rank >= 0)
        open_element(position, false);
    pthread_mutex_unlock(&m.lock);
}

void measure_adaptation_begin(void)
{
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

void measure_adapted(const epop_adapted_t *adapted)
{
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

void measure_failed(const epop_position_t *position)
{
    measure_hold_begin(position);
}

/* ---- The record ---------------------------------------------------------------------------------- */

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

char *measure_record(int last)
{
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
