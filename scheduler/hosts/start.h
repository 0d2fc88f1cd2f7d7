/* A job that waited is started on nodes. */
#ifndef SCHEDULER_HOSTS_START_H
#define SCHEDULER_HOSTS_START_H

#include "scheduler/hosts/state.h"

/* The core has decided it. A job that cannot be started has failed. */
void hosts_start(struct hosts_job *job, const struct decision *decision);

/* Its attendant is started; where there is one already, that stays the only one. */
void hosts_start_attendant(struct hosts_job *job);

#endif
