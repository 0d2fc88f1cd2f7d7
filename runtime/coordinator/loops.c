/* Whose loops are one, and what is told of them. */
#include "runtime/coordinator/loops.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define ALIKE     0.1 /* turns of two loops that are one differ by less, as a part of the more frequent one's */
#define TURNS     10  /* so few say nothing */
#define LOOPS_ALL 256 /* of a job; others are not told */

/* Is it the one that the job is in? It has come round so often at this size, and the last time so long ago at most. */
#define ROUNDS     2
#define QUIET      2.0 /* seconds */
#define QUIET_LAPS 3   /* or as long as so many laps */

/* A loop of the job has the same number for ever: its place in the list, and 1. */
struct loop {
    char key[17];
    bool is_local; /* without collective operations */
    int outer;     /* the number of the loop that it is in; 0: none */
    cJSON *head, *tail;
    /* Of all ranks, at the present size. */
    bool of_all;
    int64_t laps;
    double seconds, recent; /* of a rank, in them and in the last ones */
    double seen;            /* when there was one last, monotonic */
};

/* ---- Which loop it is -------------------------------------------------------------------------------------- */

/* Does the rank have two with these collective operations? Then they say nothing. */
static bool is_ambiguous(const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    int count = 0;
    for (int i = 0; i < report->loops.count; i++) {
        const struct shape_gauge_loop *other = &report->loops.items[i];
        count += other->match && !strcmp(other->match, loop->match) && other->sums->size == loop->sums->size;
    }
    return count > 1;
}

static const char *key_of(const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    return loop->match && !is_ambiguous(report, loop) ? loop->match : loop->id;
}

static cJSON *site_json(const struct shape_gauge_site *site)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "place", site->place);
    if (site->from)
        cJSON_AddStringToObject(json, "from", site->from);
    cJSON_AddStringToObject(json, "mpi", site->mpi);
    return json;
}

/* 0: there is no room for another one; -1: out of memory. */
static int number_of(struct loops_of_job *loops, const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    const char *key = key_of(report, loop);
    for (size_t i = 0; i < loops->count; i++)
        if (!strcmp(loops->list[i].key, key))
            return (int)i + 1;
    if (loops->count == LOOPS_ALL)
        return 0;
    if (array_reserve(&loops->list, &loops->room, loops->count + 1, sizeof *loops->list))
        return -1;
    struct loop *new = &loops->list[loops->count++];
    *new = (struct loop){.is_local = !loop->match, .head = site_json(loop->head), .tail = site_json(loop->tail)};
    snprintf(new->key, sizeof new->key, "%s", key);
    return (int)loops->count;
}

/* The number of the loop that this one is in; 0: none that is told. */
static int outer_of(struct loops_of_job *loops, const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    for (int i = 0; loop->outer >= 0 && i < report->loops.count; i++)
        if (report->loops.items[i].sums->pc == loop->outer)
            return number_of(loops, report, &report->loops.items[i]);
    return 0;
}

/* 0, or -1: out of memory. */
static int add_rank(struct coordinator *c, struct measured *all, struct measured_told *told, int rank)
{
    struct loops_of_job *loops = &c->measure.loops;
    const struct report_gauge *report = measure_answer_of(c, c->processes.world[rank]);
    for (int i = 0; report && i < report->loops.count; i++) {
        const struct shape_gauge_loop *loop = &report->loops.items[i];
        int number = number_of(loops, report, loop), outer = outer_of(loops, report, loop);
        if (number < 0 || outer < 0)
            return -1;
        if (number && outer != number)
            loops->list[number - 1].outer = outer;
        if (number && measured_add(all, told, loop->sums, number, c->processes.size, rank))
            return -1;
    }
    return 0;
}

/* ---- Loops of different ranks that are one ----------------------------------------------------------------- */

static bool have_a_rank_in_common(const struct measured_element *a, const struct measured_element *b)
{
    for (int i = 0; i < a->ranks; i++)
        for (int j = 0; j < b->ranks; j++)
            if (a->who[i].rank == b->who[j].rank)
                return true;
    return false;
}

static bool are_one(const struct loops_of_job *loops, const struct measured_element *a,
                    const struct measured_element *b)
{
    double turns = (double)a->sums.iterations, others = (double)b->sums.iterations;
    return loops->list[a->sums.pc - 1].is_local && loops->list[b->sums.pc - 1].is_local &&
           a->sums.size == b->sums.size && fmin(turns, others) >= TURNS &&
           fabs(turns - others) <= ALIKE * fmax(turns, others) && !have_a_rank_in_common(a, b);
}

/* 0, or -1: out of memory. */
static int join_local(const struct loops_of_job *loops, struct measured *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = i + 1; j < all->count; j++)
            if (are_one(loops, &all->elements[i], &all->elements[j])) {
                if (measured_join(all, i, j))
                    return -1;
                j = i;
            }
    return 0;
}

/* All ranks' since that asker was told last. 0, or -1: out of memory. */
static int gather(struct coordinator *c, struct measure_asker *asker, struct measured *all)
{
    int failed = measure_make_room(c, asker);
    for (int r = 0; !failed && r < c->processes.size; r++)
        failed = add_rank(c, all, &asker->told[c->processes.world[r]].loops, r);
    return failed ? failed : join_local(&c->measure.loops, all);
}

/* ---- Which one counts -------------------------------------------------------------------------------------- */

static void note_laps(struct loop *loop, const struct measured_element *element, int size, double now)
{
    loop->of_all = element->ranks == size;
    loop->recent = element->sums.loop / element->ranks;
    if (!element->sums.iterations)
        return;
    loop->laps += element->sums.iterations;
    loop->seconds += loop->recent;
    loop->seen = now;
}

static bool is_present(const struct loop *loop, double now)
{
    return loop->of_all && loop->laps >= ROUNDS &&
           now - loop->seen <= fmax(QUIET, QUIET_LAPS * loop->seconds / (double)loop->laps);
}

/* None of the loops around it is present. */
static bool is_outermost(const struct loops_of_job *loops, const struct loop *loop, double now)
{
    const struct loop *around = loop;
    for (size_t depth = 0; around->outer && depth < loops->count; depth++) {
        around = &loops->list[around->outer - 1];
        if (is_present(around, now))
            return false;
    }
    return true;
}

/* Of several the one in which most of the time went by lately. */
static int find_present(const struct loops_of_job *loops, double now)
{
    int found = 0;
    for (size_t i = 0; i < loops->count; i++) {
        const struct loop *loop = &loops->list[i];
        if (is_present(loop, now) && is_outermost(loops, loop, now) &&
            (!found || loop->recent > loops->list[found - 1].recent))
            found = (int)i + 1;
    }
    return found;
}

/* At another size it has yet to come round again. */
static void begin_at_size(struct loops_of_job *loops, int size)
{
    loops->size = size;
    for (size_t i = 0; i < loops->count; i++)
        loops->list[i].laps = loops->list[i].seconds = 0;
}

void loops_look(struct coordinator *c)
{
    struct loops_of_job *loops = &c->measure.loops;
    struct measured all = {0};
    double now = monotonic_seconds();
    if (loops->size != c->processes.size)
        begin_at_size(loops, c->processes.size);
    for (size_t i = 0; i < loops->count; i++)
        loops->list[i].recent = 0;
    if (!gather(c, &loops->told, &all))
        for (size_t i = 0; i < all.count; i++)
            if (all.elements[i].sums.size == loops->size)
                note_laps(&loops->list[all.elements[i].sums.pc - 1], &all.elements[i], loops->size, now);
    loops->counts = find_present(loops, now);
    measured_free(&all);
}

/* ---- What is told ------------------------------------------------------------------------------------------ */

/* "0-3,7" */
static char *text_of_ranks(const struct measured_rank *who, int count)
{
    size_t room = (size_t)count * 24 + 1, used = 0;
    char *text = malloc(room);
    for (int i = 0, last; text && i < count; i = last + 1) {
        for (last = i; last + 1 < count && who[last + 1].rank == who[last].rank + 1;)
            last++;
        used += (size_t)snprintf(text + used, room - used, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", who[i].rank,
                                 who[last].rank);
    }
    return text;
}

static void add_ends(cJSON *json, const struct loops_of_job *loops, int number)
{
    cJSON_AddNumberToObject(json, "number", number);
    cJSON_AddItemToObject(json, "head", cJSON_Duplicate(loops->list[number - 1].head, true));
    cJSON_AddItemToObject(json, "tail", cJSON_Duplicate(loops->list[number - 1].tail, true));
}

static cJSON *loop_json(const struct coordinator *c, const struct measured_element *element)
{
    const struct loops_of_job *loops = &c->measure.loops;
    const struct loop *is = &loops->list[element->sums.pc - 1];
    char *ranks = text_of_ranks(element->who, element->ranks);
    cJSON *json = cJSON_CreateObject();
    add_ends(json, loops, element->sums.pc);
    if (is->outer)
        cJSON_AddNumberToObject(json, "within", is->outer);
    cJSON_AddNumberToObject(json, "size", element->sums.size);
    cJSON_AddStringToObject(json, "ranks", ranks ? ranks : "");
    names_add_scaling(json, c, -1);
    measured_add_sums(json, element, c->processes.size);
    free(ranks);
    return json;
}

cJSON *loops_json(struct coordinator *c, struct measure_asker *asker)
{
    struct measured all = {0};
    cJSON *list = gather(c, asker, &all) ? NULL : cJSON_CreateArray();
    measured_sort(&all);
    for (size_t i = 0; list && i < all.count; i++)
        cJSON_AddItemToArray(list, loop_json(c, &all.elements[i]));
    measured_free(&all);
    return list;
}

void loops_add_present(cJSON *status, const struct coordinator *c)
{
    if (c->measure.loops.counts)
        add_ends(cJSON_AddObjectToObject(status, "loop"), &c->measure.loops, c->measure.loops.counts);
}

void loops_forget(struct loops_of_job *loops)
{
    for (size_t i = 0; i < loops->count; i++) {
        cJSON_Delete(loops->list[i].head);
        cJSON_Delete(loops->list[i].tail);
    }
    free(loops->list);
    *loops = (struct loops_of_job){0};
}
