/* The workload that is simulated: read, changed as the options say, and described. */
#ifndef SCHEDULER_EPOPSIM_LOAD_H
#define SCHEDULER_EPOPSIM_LOAD_H

#include <stdio.h>

#include "runtime/base/error.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/workload/workload.h"

/* -1: there is nothing to free. */
int load_workload(struct workload *workload, const struct options *options, struct error *error);

/* What a workload is, after all options: figures and histograms for people. */
void load_describe(FILE *file, const struct workload *workload, const struct options *options);

/* What was left out or changed of its input, a line each. */
void load_describe_notes(FILE *file, const struct workload *workload);

#endif
