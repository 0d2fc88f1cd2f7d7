/* Workloads by schema/workload.schema.json: a machine, applications with phases, jobs, and jobs that are drawn. */
#ifndef SCHEDULER_WORKLOAD_WORKLOAD_JSON_H
#define SCHEDULER_WORKLOAD_WORKLOAD_JSON_H

#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/workload/input.h"
#include "scheduler/workload/workload.h"

/* nodes: of the machine; 0: as the document says. rates: negative ones are as the document says; NULL: all are. seed:
 * of jobs that are drawn; NULL: as the document says. -1: the line names the place in the document; the workload is
 * empty. */
int workload_json_read(struct workload *workload, const struct input *input, int nodes, const struct rates *rates,
                       const uint64_t *seed, struct error *error);

#endif
