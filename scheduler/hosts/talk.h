/* What a job's attendant says. */
#ifndef SCHEDULER_HOSTS_TALK_H
#define SCHEDULER_HOSTS_TALK_H

#include "scheduler/hosts/state.h"

/* From now on the attendant is listened to, as soon as it is there. */
void hosts_talk_begin(struct hosts_job *job);

#endif
