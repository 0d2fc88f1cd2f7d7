/*
 * The workload model of U. Lublin and D. Feitelson, "The workload on parallel supercomputers: modeling the
 * characteristics of rigid jobs", J. Parallel and Distributed Computing 63(11), 2003: sizes, run times and arrivals of
 * batch jobs, with the published constants.
 */
#ifndef SCHEDULER_WORKLOAD_LUBLIN_H
#define SCHEDULER_WORKLOAD_LUBLIN_H

#include <stdint.h>

#include "scheduler/workload/workload.h"

/* So many rigid jobs for a machine of so many nodes, from midnight on, in whole seconds; limits are exact. The same
 * seed gives the same jobs, and the first of more. -1: no memory, and the workload is to be freed only. */
int lublin_draw(struct workload *workload, int nodes, int jobs, uint64_t seed);

#endif
