/*
 * A resize of a job. Its six steps are those of the dissertation (9.1): decided, asked, prepared, agreed, committed,
 * settled.
 */
#ifndef SCHEDULER_HOSTS_RESIZE_H
#define SCHEDULER_HOSTS_RESIZE_H

#include "scheduler/hosts/state.h"

/* The core has decided it. */
void hosts_resize_begin(struct hosts_job *job, const struct decision *decision);

/* Asks the job, if it can be asked and was not on this connection: again with the same id, so that it is done once. */
void hosts_resize_ask(struct hosts_job *job);

/* What the job says meanwhile, and its answer. */
void hosts_resize_event(struct hosts_job *job, const cJSON *what);
void hosts_resize_answer(struct hosts_job *job, const cJSON *answer);

/* The job is over, and so is its resize. */
void hosts_resize_drop(struct hosts_job *job, const char *why);

#endif
