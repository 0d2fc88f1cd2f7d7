/*
 * Options that change a workload before it runs, each by a seed, so that the same options give the same jobs. They are
 * applied in the order of the fields.
 */
#ifndef SCHEDULER_WORKLOAD_TRANSFORM_H
#define SCHEDULER_WORKLOAD_TRANSFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/workload/speedup.h"
#include "scheduler/workload/workload.h"

struct transform {
    uint64_t seed;
    int jobs;    /* the first ones only; 0: all */
    double load; /* interarrival times are scaled to it; 0: as they are */

    /* Of all jobs: so many are malleable, so many of the others moldable; the rest is rigid. Jobs that are malleable at
     * a share are so at every larger one. Evolving jobs stay as they are. Negative: kinds stay as they are. */
    double malleable, moldable;
    /* Of jobs whose workload names no range: times the wanted nodes, within the machine. */
    double min_share, max_share;

    struct speedup_rule speedup; /* of every phase; times at the wanted nodes stay */
    double bytes_per_node;       /* that a resize moves, times the wanted nodes; negative: as they are */
    double limit_factor;         /* limits are true ones times 1 to that; below 1: as they are */
};

/* -1: the workload is to be freed only. */
int transform(struct workload *workload, const struct transform *how, struct error *error);

/* Whether every job's limit is what it takes at its wanted nodes. */
bool limits_are_exact(const struct workload *workload);

#endif
