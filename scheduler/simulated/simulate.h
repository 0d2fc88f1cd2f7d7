/*
 * A workload in virtual time: jobs come, run, are resized and end, as the decisions of the scheduler core say. The same
 * core and policies rule real nodes (scheduler/hosts/).
 */
#ifndef SCHEDULER_SIMULATED_SIMULATE_H
#define SCHEDULER_SIMULATED_SIMULATE_H

#include "runtime/base/error.h"
#include "scheduler/core/core.h"
#include "scheduler/simulated/schedule.h"
#include "scheduler/simulated/script.h"
#include "scheduler/workload/workload.h"

struct simulation {
    const struct workload *workload;
    const struct policy *policy;
    const struct script *script; /* faults to inject; NULL: none */
    double spread_cost;   /* share that an iteration takes longer for each leaf switch above the fewest possible */
    const double *speeds; /* of the nodes; NULL: all are alike */
    const struct topology *topology; /* NULL: none is known */
    const struct shares *shares;     /* that the accounts of jobs are to have; NULL: there are none */
    /* Of a resize: the job stands still for base + per_node * larger + per_byte * bytes / smaller; where there is a
     * network, for as long as the bytes take there instead of the last. */
    struct core_costs costs;
    double latency; /* from a decision to the stand-still: processes are started meanwhile */
    double noise;   /* of measured MTCT and seconds, relative; 0: none */
    uint64_t seed;
    bool kill_at_limit; /* as epoprm does: `limit` at `wanted` nodes or more, on fewer for longer */
    bool brief;         /* the schedule has the figures and no decisions; not with a replay */
    bool exact;         /* all limits are true: reservations are held against backfilled jobs */
    /* Called now and then; NULL: not. */
    void (*progress)(void *context, size_t ended, size_t jobs, double now);
    void *context;
    const struct schedule *replay; /* a recorded run whose decisions must come again; NULL: none */
};

/* The whole run; the schedule is the caller's to free. -1: an invariant did not hold, the policy's plan made no sense,
 * or nothing can ever happen again while jobs wait; the line says when and what. */
int simulate(const struct simulation *simulation, struct schedule *schedule, struct error *error);

#endif
