/* What a running program accepts, by its status, in nodes. */
#ifndef SCHEDULER_HOSTS_PROGRAM_H
#define SCHEDULER_HOSTS_PROGRAM_H

#include "scheduler/hosts/state.h"

/* Reads `job` of a status. True: it is other than what was known. */
bool hosts_program_read(struct hosts_job *job, const cJSON *status);

void hosts_program_free(struct hosts_program *program);

#endif
