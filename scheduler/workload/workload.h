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

/* An element of a program, as the simulator runs it. */
struct phase {
    char *name;
    bool elastic;
    epop_policy_range_t range; /* its sizes, if any, are owned; max 0: as the job's */
    double iterations;         /* above 0 */
    double seconds;            /* of an iteration on one node */
    struct speedup speedup;
};

struct work {
    int64_t id;
    char *name;
    int user;
    epop_policy_kind_t kind;
    double submit; /* seconds from the trace's beginning */
    int wanted;
    epop_policy_range_t range; /* its sizes, if any, are owned */
    double limit;              /* at `wanted` nodes, as the user says; may be wrong */
    double bytes;              /* that a resize moves */
    bool progress;             /* the program reports how far it is, and is measured */
    struct phase *phases;
    int phase_count;
};

struct workload {
    char *name;
    int nodes;
    double idle_watts, busy_watts; /* of a node; 0: not known */
    double power_cap;              /* 0: none */
    struct work *works;            /* by submit, then id */
    size_t count, room;
    char *notes; /* what was left out or changed of the input, a line each; "" */
};

/* The nodes that compute in that phase of a job that has so many: the most that it accepts of them, the others wait;
 * all if it accepts no such few. */
int phase_nodes(const struct phase *phase, int nodes);
bool phase_accepts(const struct phase *phase, int nodes);

/* Seconds of one iteration. */
double phase_iteration(const struct phase *phase, int nodes);

/* Seconds that a job takes from beginning to end at that size, with nothing else there. */
double work_seconds(const struct work *work, int nodes);

void workload_free(struct workload *workload);

#endif
