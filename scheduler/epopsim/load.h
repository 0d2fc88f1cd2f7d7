/* The workload that is simulated: read, and changed as the options say. */
#ifndef SCHEDULER_EPOPSIM_LOAD_H
#define SCHEDULER_EPOPSIM_LOAD_H

#include "runtime/base/error.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/workload/workload.h"

/* -1: there is nothing to free. */
int load_workload(struct workload *workload, const struct options *options, struct error *error);

#endif
