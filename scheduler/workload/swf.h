/*
 * Traces in the Standard Workload Format 2.2: 18 numbers a line, and comments with a machine's description at the
 * beginning (S. Chapin and others, "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP
 * 1999; D. Feitelson's Parallel Workloads Archive). A node of the simulation is a processor of the trace.
 */
#ifndef SCHEDULER_WORKLOAD_SWF_H
#define SCHEDULER_WORKLOAD_SWF_H

#include "runtime/base/error.h"
#include "scheduler/workload/input.h"
#include "scheduler/workload/workload.h"

/*
 * nodes: of the machine; 0: as the trace says. Jobs are rigid, speed up linearly and have one phase. What cannot be
 * simulated is counted in the notes. The text is changed. -1: the line names the file, its line and field; the workload
 * is empty.
 */
int swf_read(struct workload *workload, struct input *input, int nodes, struct error *error);

#endif
