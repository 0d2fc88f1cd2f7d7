/*
 * A decided adaptation: who takes part, who goes where, and at which point of the program.
 * The coordinator makes it; every process that takes part gets the same one.
 */
#ifndef EPOP_PLAN_H
#define EPOP_PLAN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/wire/messages.h"

/* A point of the walk. */
struct position {
    int pc;
    int64_t visit;     /* elements entered so far, INIT not counted */
    int64_t iteration; /* of the present visit, from 0 */
};

struct plan {
    int adaptation; /* its number in the job, from 1 */
    uint64_t count; /* the probe at which it happens */
    struct position at;
    int old_size, joining, staying;
    int *processes; /* old_size + joining process numbers: old ranks in order, then the joining ones */
    int *new_ranks; /* as long: the new rank of each, -1 if it leaves */
    bool connected; /* the communicators were made ahead */
    bool ahead;     /* constant data came ahead, and counts */
    char *port;     /* where joining processes of another launch accept; owned; NULL: none */
};

static inline int plan_total(const struct plan *plan)
{
    return plan->old_size + plan->joining;
}

static inline int plan_new_size(const struct plan *plan)
{
    return plan->staying + plan->joining;
}

/*
 * Staying ranks keep their order and come first, joining ones follow. leaves[rank] tells which old ranks
 * leave. The arrays are copied. NULL when out of memory; free with plan_free.
 */
struct plan *plan_make(int adaptation, const int *old, const char *leaves, int old_size, const int *joiners,
                       int joining);
void plan_free(struct plan *plan);

/* The index of `process` among plan->processes (its rank in `all`), or -1. */
int plan_index(const struct plan *plan, int process);

cJSON *plan_to_json(const struct plan *plan);
struct plan *plan_of(const struct shape_plan *said); /* NULL if it is no valid plan */

void position_to_json(const struct position *at, cJSON *json);
struct position position_from_json(const cJSON *json);

/* That of a message which says one. */
#define POSITION_OF(row) ((struct position){.pc = (row)->pc, .visit = (row)->visit, .iteration = (row)->iteration})

#endif
