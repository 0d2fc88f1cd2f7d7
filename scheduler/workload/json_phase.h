/* The phases of a job in JSON workloads. */
#ifndef SCHEDULER_WORKLOAD_JSON_PHASE_H
#define SCHEDULER_WORKLOAD_JSON_PHASE_H

#include "runtime/base/error.h"
#include "scheduler/workload/place.h"
#include "scheduler/workload/workload.h"

/* Into a work whose range is set: a phase that says nothing else has that. nodes: of the machine. */
int json_phases(const struct place *place, struct work *work, int nodes, double scale, struct error *error);

#endif
