/* What a workload is, after all options: for people, before it runs. */
#ifndef SCHEDULER_EPOPSIM_DESCRIBE_H
#define SCHEDULER_EPOPSIM_DESCRIBE_H

#include <stdio.h>

#include "scheduler/epopsim/options.h"
#include "scheduler/workload/workload.h"

void describe(FILE *file, const struct workload *workload, const struct options *options);

/* What was left out or changed of its input, a line each. */
void describe_notes(FILE *file, const struct workload *workload);

#endif
