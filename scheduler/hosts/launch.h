/* A job's command, and its attendant, which runs it. */
#ifndef SCHEDULER_HOSTS_LAUNCH_H
#define SCHEDULER_HOSTS_LAUNCH_H

#include "scheduler/hosts/state.h"

/* Makes the job's directory with launch.json, for the nodes that it holds. -1: a line says why not. */
int hosts_launch_write(const struct hosts_job *job, struct error *error);

/* Starts the attendant, away from this process. If one runs already, it ends at once. */
int hosts_launch_start(const struct hosts_job *job, struct error *error);

/* Can processes of this MPI be joined? Asks epop, which tries it: half a second. */
bool hosts_launch_joins(void);

/* The command that says what a node's host calls itself. It, and its words, are the caller's. */
char **hosts_launch_name(const struct hosts *hosts, int node);

/* {"status":0,...}; NULL: it has not ended, or not written that. The caller's to free. */
cJSON *hosts_launch_ended(const struct hosts_job *job);

#endif
