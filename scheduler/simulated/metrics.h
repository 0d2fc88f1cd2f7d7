/* The field's figures of a run that is over: see struct metrics and docs/reference/simulator.md. */
#ifndef SCHEDULER_SIMULATED_METRICS_H
#define SCHEDULER_SIMULATED_METRICS_H

#include "scheduler/simulated/schedule.h"

/* Of the jobs' records, and the node seconds that they held; what was counted on the way is there already. */
int metrics_sum(struct schedule *schedule, const struct workload *workload, double node_seconds, struct error *error);

#endif
