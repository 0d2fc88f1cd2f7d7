/* The jobs of a JSON workload that are drawn by a seed. */
#ifndef SCHEDULER_WORKLOAD_JSON_RANDOM_H
#define SCHEDULER_WORKLOAD_JSON_RANDOM_H

#include "scheduler/workload/json_jobs.h"

/* After the listed ones, numbered on. seed: NULL: as the document says. */
int json_random(struct json_reader *reader, const uint64_t *seed);

#endif
