/* The policy is asked when something has changed, and what the core gives is carried out. */
#ifndef SCHEDULER_HOSTS_DECIDE_H
#define SCHEDULER_HOSTS_DECIDE_H

#include "scheduler/hosts/state.h"

/* When all that was there has been heard. */
void hosts_decide(struct hosts *hosts);

/* A drained node is taken from the job that has it, if that can do without; else when it ends. */
void hosts_decide_vacate(struct hosts *hosts);

#endif
