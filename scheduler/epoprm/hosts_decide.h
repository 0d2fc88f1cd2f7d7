/* The policy is asked when something has changed, and what the core gives is carried out. */
#ifndef SCHEDULER_EPOPRM_HOSTS_DECIDE_H
#define SCHEDULER_EPOPRM_HOSTS_DECIDE_H

#include "scheduler/epoprm/hosts.h"

void hosts_decide_init(struct hosts *hosts);

/* Between two waits of the loop. `context` is the struct hosts. */
void hosts_decide(void *context);

/* A drained node is taken from the job that has it, if that can do without; else when it ends. */
void hosts_decide_vacate(struct hosts *hosts);

#endif
