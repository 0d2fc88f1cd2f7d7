/* Whose loops are one, and what is told of them. */
#include "runtime/coordinator/loops.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define ALIKE     0.1 /* turns of two loops that are one differ by less, as a part of the more frequent one's */
#define TURNS     10  /* so few say nothing */
#define LOOPS_ALL 256 /* of a job; others are not told */

/* A loop of the job has the same number for ever: its place here, and 1. */
struct loop_names {
    char key[17];
    bool is_local; /* without collective operations */
    /* Of the present answer, in the words of the first rank that has it. */
    const struct shape_gauge_loop *said;
    int outer;
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

/* 0: there is no room for another one; -1: out of memory. */
static int number_of(struct measure *m, const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    const char *key = key_of(report, loop);
    for (size_t i = 0; i < m->loop_count; i++)
        if (!strcmp(m->loops[i].key, key))
            return (int)i + 1;
    if (m->loop_count == LOOPS_ALL)
        return 0;
    if (array_reserve(&m->loops, &m->loop_room, m->loop_count + 1, sizeof *m->loops))
        return -1;
    struct loop_names *new = &m->loops[m->loop_count++];
    *new = (struct loop_names){.is_local = !loop->match};
    snprintf(new->key, sizeof new->key, "%s", key);
    return (int)m->loop_count;
}

/* The number of the loop that this one is in; 0: none that is told. */
static int outer_of(struct measure *m, const struct report_gauge *report, const struct shape_gauge_loop *loop)
{
    for (int i = 0; loop->outer >= 0 && i < report->loops.count; i++)
        if (report->loops.items[i].sums->pc == loop->outer)
            return number_of(m, report, &report->loops.items[i]);
    return 0;
}

/* 0, or -1: out of memory. */
static int add_rank(struct coordinator *c, struct measured *all, struct measured_told *told, int rank)
{
    const struct report_gauge *report = measure_answer_of(c, c->processes.world[rank]);
    for (int i = 0; report && i < report->loops.count; i++) {
        const struct shape_gauge_loop *loop = &report->loops.items[i];
        int number = number_of(&c->measure, report, loop), outer = outer_of(&c->measure, report, loop);
        if (number < 0 || outer < 0)
            return -1;
        if (!number)
            continue;
        struct loop_names *is = &c->measure.loops[number - 1];
        if (!is->said) {
            is->said = loop;
            is->outer = outer;
        }
        if (measured_add_loop(all, told, loop->sums, number, c->processes.size, rank))
            return -1;
    }
    return 0;
}

/* ---- Loops of different ranks that are one ----------------------------------------------------------------- */

static bool have_a_rank_in_common(const struct measured_element *a, const struct measured_element *b)
{
    for (int i = 0; i < a->ranks; i++)
        for (int j = 0; j < b->ranks; j++)
            if (a->who[i] == b->who[j])
                return true;
    return false;
}

static bool are_one(const struct measure *m, const struct measured_element *a, const struct measured_element *b)
{
    double turns = (double)a->sums.iterations, others = (double)b->sums.iterations;
    return m->loops[a->sums.pc - 1].is_local && m->loops[b->sums.pc - 1].is_local && a->sums.size == b->sums.size &&
           fmin(turns, others) >= TURNS && fabs(turns - others) <= ALIKE * fmax(turns, others) &&
           !have_a_rank_in_common(a, b);
}

/* 0, or -1: out of memory. */
static int join_local(const struct measure *m, struct measured *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = i + 1; j < all->count; j++)
            if (are_one(m, &all->elements[i], &all->elements[j])) {
                if (measured_join(all, i, j))
                    return -1;
                j = i;
            }
    return 0;
}

/* ---- What is told ------------------------------------------------------------------------------------------ */

static void add_site(cJSON *json, const char *key, const struct shape_gauge_site *site)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);
    cJSON_AddStringToObject(object, "place", site->place);
    if (site->from)
        cJSON_AddStringToObject(object, "from", site->from);
    cJSON_AddStringToObject(object, "mpi", site->mpi);
}

/* "0-3,7" */
static char *text_of_ranks(const int *ranks, int count)
{
    size_t room = (size_t)count * 24 + 1, used = 0;
    char *text = malloc(room);
    for (int i = 0, last; text && i < count; i = last + 1) {
        for (last = i; last + 1 < count && ranks[last + 1] == ranks[last] + 1;)
            last++;
        used += (size_t)snprintf(text + used, room - used, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", ranks[i],
                                 ranks[last]);
    }
    return text;
}

static cJSON *loop_json(const struct measure *m, const struct measured_element *element)
{
    const struct loop_names *is = &m->loops[element->sums.pc - 1];
    char *ranks = text_of_ranks(element->who, element->ranks);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "number", element->sums.pc);
    if (is->outer)
        cJSON_AddNumberToObject(json, "within", is->outer);
    add_site(json, "head", is->said->head);
    add_site(json, "tail", is->said->tail);
    cJSON_AddNumberToObject(json, "size", element->sums.size);
    cJSON_AddStringToObject(json, "ranks", ranks ? ranks : "");
    measured_add_sums(json, element);
    free(ranks);
    return json;
}

static void forget_said(struct measure *m)
{
    for (size_t i = 0; i < m->loop_count; i++)
        m->loops[i].said = NULL;
}

cJSON *loops_json(struct coordinator *c, struct measure_asker *asker)
{
    struct measured all = {0};
    int failed = 0;
    for (int r = 0; !failed && r < c->processes.size; r++)
        failed = add_rank(c, &all, &asker->told[c->processes.world[r]].loops, r);
    cJSON *list = failed || join_local(&c->measure, &all) ? NULL : cJSON_CreateArray();
    measured_sort(&all);
    for (size_t i = 0; list && i < all.count; i++)
        cJSON_AddItemToArray(list, loop_json(&c->measure, &all.elements[i]));
    forget_said(&c->measure);
    measured_free(&all);
    return list;
}
