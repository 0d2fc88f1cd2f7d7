/* What is started for a job: its command, and the attendant that runs it. */
#ifndef SCHEDULER_HOSTS_LAUNCH_H
#define SCHEDULER_HOSTS_LAUNCH_H

#include "scheduler/hosts/state.h"

/* Makes the job's directory with launch.json, for the nodes that it holds. -1: a line says why not. */
int hosts_launch_write(const struct hosts_job *job, struct error *error);
/* Starts the attendant, away from this process. If one runs already, it ends at once. */
int hosts_launch_start(const struct hosts_job *job, struct error *error);
/* What the attendant left: {"status":0,...}. NULL: the job has not ended, or it did not write that. The caller's to
 * free. */
cJSON *hosts_launch_ended(const struct hosts_job *job);

/* Does epop run it, as a shared object, or is it an executable? */
bool hosts_launch_is_object(const char *program);

/* Inside a Slurm allocation, where no other launcher was named: has every mpiexec of this daemon start its proxies by
 * srun, as steps of the allocation's job (lib/epop/step). The nodes are known. That is not one of the daemon's options,
 * so a later start elsewhere does not take it over. 0, or -1 with text. */
int hosts_launch_by_slurm(const struct hosts *hosts, struct error *error);

/* The command that says what a node's host calls itself. It, and its words, are the caller's. */
char **hosts_launch_hostname(const struct hosts *hosts, int node);

/* Can processes of this MPI be joined? Asks epop, which tries it: half a second, 20 s where no launch comes up. -1:
 * none does, or there was no answer in time. */
int hosts_launch_joins(bool *joins, struct error *error);

#endif
