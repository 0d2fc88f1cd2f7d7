/*
 * What is simulated: a machine and the jobs that come to it. Filled by the readers of traces and of JSON workloads, and
 * by the options that change them.
 */
#ifndef SCHEDULER_WORKLOAD_WORKLOAD_H
#define SCHEDULER_WORKLOAD_WORKLOAD_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/workload/speedup.h"

/* What jobs share besides nodes, to move bytes. */
enum shared { SHARED_NETWORK, SHARED_FILE_SYSTEM, SHARED };

/* Bytes per second of a machine; 0: no bound. */
struct rates {
    double all[SHARED]; /* of all jobs together */
    double link;        /* of a node, in both */
};

/* What a phase moves there. */
struct move {
    double bytes; /* of the whole job; 0: nothing */
    double every; /* iterations, a whole number; of fewer at the phase's end it moves so many bytes fewer */
};

/* An element of a program, as the simulator runs it. */
struct phase {
    char *name;
    bool elastic;
    epop_policy_range_t range; /* its sizes, if any, are owned; max 0: as the job's */
    double iterations;         /* above 0 */
    double seconds;            /* of an iteration on one node */
    bool weak;                 /* an iteration does as much work on each node */
    struct speedup speedup;    /* of the work per second */
    struct move moves[SHARED];
};

struct work {
    int64_t id;
    char *name;
    int user;
    char *account; /* that it is counted for; owned; NULL: its user's */
    int priority;  /* the higher, the earlier in the queue */
    epop_policy_kind_t kind;
    double submit;   /* seconds from the trace's beginning */
    double deadline; /* seconds from then, in which it is wanted to have ended; 0: nothing is said */
    bool drop_late;  /* it is given up when it cannot meet that any more, and ended at that time */
    int wanted;
    epop_policy_range_t range; /* its sizes, if any, are owned */
    double limit;              /* at `wanted` nodes, as the user says; may be wrong */
    double bytes;              /* that a resize moves */
    bool progress;             /* the program reports how far it is, and is measured */
    struct phase *phases;
    int phase_count;
    const struct rates *rates; /* of the machine; not owned; NULL: no bounds */
};

struct workload {
    char *name;
    int nodes;
    double idle_watts, busy_watts; /* of a node; 0: not known */
    double power_cap;              /* 0: none */
    struct rates rates;
    struct work *works; /* by submit, then id */
    size_t count, room;
    char *notes; /* what was left out or changed of the input, a line each; "" */
};

/* The nodes that compute in that phase of a job that has so many: the most that it accepts of them, the others wait;
 * all if it accepts no such few. */
int phase_nodes(const struct phase *phase, int nodes);
bool phase_accepts(const struct phase *phase, int nodes);

/* The work of an iteration, in that of one on one node. */
double phase_work(const struct phase *phase, int nodes);

/* Seconds that one iteration computes. */
double phase_iteration(const struct phase *phase, int nodes);

/* Seconds that a job takes from beginning to end at that size, with nothing else there: it computes and moves bytes. */
double work_seconds(const struct work *work, int nodes);

/* The account that it is counted for: its user's has the user's number. */
#define WORK_ACCOUNT_MAX 16
const char *work_account(const struct work *work, char user[WORK_ACCOUNT_MAX]);

void workload_free(struct workload *workload);

/* ---- Filling ------------------------------------------------------------------------------------ */

/* What the readers of workloads and the options that change them have in common. Each returns -1 when out of memory. */

/* A new work, all 0 but its rates, which are the workload's: that stays where it is. Valid until the next one is added.
 */
struct work *workload_add(struct workload *workload);
/* A line of `notes`, without its end. */
int workload_note(struct workload *workload, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* By submission, then id. */
void workload_sort(struct workload *workload);
/* Two jobs with one number: *id is it. Works need not be in order. */
bool workload_has_twins(const struct workload *workload, int64_t *id);

/* A phase that takes `seconds` at `wanted` nodes, at any size; seconds > 0. The speedup is copied, its points too. */
int work_one_phase(struct work *work, const char *name, double seconds, const struct speedup *speedup);
/* Every size from min to max. */
void work_set_range(struct work *work, int min, int max);

/* Node seconds at the wanted sizes over what the machine has from the first submission to the last; infinite when all
 * come at once. */
double workload_load(const struct workload *workload);

/* A number from 0 to 1 (excluded) that follows from these three alone: `what` names what it is drawn for. */
double workload_drawn(uint64_t seed, int64_t id, const char *what);

#endif
