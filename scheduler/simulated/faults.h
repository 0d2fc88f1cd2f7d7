/* Nodes that fail and return by the script. */
#ifndef SCHEDULER_SIMULATED_FAULTS_H
#define SCHEDULER_SIMULATED_FAULTS_H

#include "scheduler/simulated/run.h"

/* All nodes and jobs of the script are there. Expects its events. */
int faults_begin(struct run *run, struct error *error);

/* EVENT_NODE: of the script's nodes, this one. A job on a node that fails is requeued, and begins anew; one that was
 * only to get the node goes on, and its resize is refused. */
int faults_event(struct run *run, size_t index, struct error *error);

#endif
