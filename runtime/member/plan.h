/*
 * What the coordinator decides and every process that takes part gets the same: an adaptation (who takes part, who goes
 * where, and at which point of the program), and the order to make a checkpoint.
 */
#ifndef EPOP_MEMBER_PLAN_H
#define EPOP_MEMBER_PLAN_H

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

#define PLAN_LOADS 1000000

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
    int *loads; /* of a balance, in which nobody comes or goes: how long each old rank has computed, the longest of them
                   PLAN_LOADS; owned; NULL: it is none */
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

/* A copy of as many loads as there are old ranks. False: out of memory. */
bool plan_take_loads(struct plan *plan, const int *loads);

/* The index of `process` among plan->processes (its rank in `all`), or -1. */
int plan_index(const struct plan *plan, int process);

cJSON *plan_to_json(const struct plan *plan);
struct plan *plan_of(const struct shape_plan *said); /* NULL if it is no valid plan */

void position_to_json(const struct position *at, cJSON *json);
struct position position_from_json(const cJSON *json);

/* That of a message which says one. */
#define POSITION_OF(row) ((struct position){.pc = (row)->pc, .visit = (row)->visit, .iteration = (row)->iteration})

/* ---- The order to make a checkpoint ------------------------------------------------------------- */

/* Where it is kept: in one file, or in the memory of the nodes. */
enum save_level { SAVE_FILE, SAVE_MEMORY, SAVE_LEVELS };

#define SAVE_PATH 1024

struct save_order {
    enum save_level level;
    int number;           /* of the checkpoint in the job */
    int restarts;         /* of the job so far */
    bool behind;          /* the ranks go on when they have copied it */
    char path[SAVE_PATH]; /* "" in memory */
    char base[SAVE_PATH]; /* which earlier one has the constant arrays as they still are: a file of its directory, or in
                           * memory a number; "": none */
};

/* What this rank has saved. */
struct saved {
    int number;
    const char *failure; /* NULL: it is complete, or copied; the same on all ranks */
    int64_t bytes;       /* of this rank's part */
    bool linked;         /* it has its constant arrays in an earlier file; the same on all ranks */
};

const char *save_level_name(enum save_level level);

cJSON *save_order_to_json(const struct save_order *order);
void save_order_read(struct save_order *order, const struct order_save *said);

#endif
