/* Nodes that jobs can share: partitions that have nodes in common make one machine, and each machine is decided by
 * itself. */
#ifndef SCHEDULER_SLURM_MACHINE_H
#define SCHEDULER_SLURM_MACHINE_H

#include "scheduler/slurm/view.h"

struct machines {
    int *of; /* of each node of the view: which machine it is of */
    int count;
};

/* -1: no memory. */
int machines_find(const struct slurm_view *view, struct machines *machines);
void machines_free(struct machines *machines);

/* -1: no node, or none that is known. */
int machines_of_partition(const struct machines *machines, const struct slurm_view *view, const char *partition);

#endif
