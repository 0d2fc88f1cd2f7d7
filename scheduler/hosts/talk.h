/*
 * Talking with the attendant of a running job. By way of it the job is asked about once a second what it is and how
 * fast, and the core is told.
 */
#ifndef SCHEDULER_HOSTS_TALK_H
#define SCHEDULER_HOSTS_TALK_H

#include "scheduler/hosts/state.h"

/* From now on the attendant is listened to, as soon as it is there. */
void hosts_talk_begin(struct hosts_job *job);

/* The job ends: it is not asked any more. */
void hosts_talk_stop_measuring(struct hosts_job *job);

#endif
