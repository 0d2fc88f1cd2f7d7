/*
 * A daemon that runs inside a Slurm allocation, of which its hosts are: whatever is started there is started by srun,
 * as steps of that job, by lib/epop/step as EPOP does it itself. Nothing of it is in the daemon's options, so that a
 * later start elsewhere does not take it over.
 */
#ifndef SCHEDULER_HOSTS_SLURM_H
#define SCHEDULER_HOSTS_SLURM_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"
#include "scheduler/hosts/state.h"

/* "n1:4,n2:4": the nodes of the allocation with their cores. Owned; NULL: this is in none. */
char *hosts_slurm_list(void);

/* Has every mpiexec of this daemon start its proxies so, if it is in an allocation and no other launcher was named; the
 * nodes are known. 0, or -1 with text. */
int hosts_slurm_begin(const struct hosts *hosts, struct error *error);

/* What mpiexec needs for that, and EPOP in the job, into its environment. */
void hosts_slurm_set(cJSON *environment);

#endif
