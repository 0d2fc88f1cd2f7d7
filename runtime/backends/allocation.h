/*
 * The Slurm allocation that the job runs in: on which of its nodes joining processes come up, and how Hydra reaches
 * these and others: by lib/epop/step, an srun for each host, whatever launcher the first processes had
 * (docs/internals/architecture.md).
 */
#ifndef EPOP_ALLOCATION_H
#define EPOP_ALLOCATION_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/coordinator/processes.h"
#include "runtime/launch/engine.h"

/* Takes note of it, by the environment: before the program's INIT. True where there is one. Local. */
bool allocation_take(void);

/* Is this variable one of the allocation's, or of the step that this process runs in? The number of the job, and where
 * Slurm's configuration is, are for joining processes, too. */
bool allocation_owns(const char *variable);

/* "n1:2,n2:1" for so many joining processes: nodes with few ranks first, and no more on each than it has free cores,
 * while there are such. Owned; NULL when out of memory. */
char *allocation_hosts(const struct coordinator *c, int joining);

/* Has mpiexec reach all hosts, this one too, by the helper. 0, or -1: it is not there, or this mpiexec cannot. */
int allocation_options(char *options[ENGINE_OPTIONS_MAX], int *count);

/* For that mpiexec: which Slurm job each of the hosts is in, for the helper. Owned; NULL when out of memory. */
char *allocation_variable(const struct coordinator *c, const char *hosts);

/* In a joining process: takes out of its environment what was for the helper, and takes back that the helper has it
 * ignore SIGTERM. */
void allocation_joining(void);

/* And: it does not start processes of its own host without the helper, in the step that rank 0 runs in. */
#define ALLOCATION_NO_FORK "HYDRA_LAUNCHER_AUTOFORK=0"

#endif
