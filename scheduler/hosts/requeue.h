/*
 * Jobs that are saved, end, and wait again, from where they go on when their turn comes: because their user says so, or
 * to make room for one with a higher priority.
 */
#ifndef SCHEDULER_HOSTS_REQUEUE_H
#define SCHEDULER_HOSTS_REQUEUE_H

#include "scheduler/hosts/state.h"

/* It is to be saved, and to wait again. ERROR_REFUSED: it does not run, is being resized, or cannot be asked. Again
 * changes nothing. */
int hosts_requeue(struct hosts_job *job, const char *why, struct error *error);

/* Asks it for the checkpoint, if it is to leave and was not asked on this connection. */
void hosts_requeue_ask(struct hosts_job *job);

/* True: it is saved, and is to end now. Else it was not its answer, or it could not be saved and runs on. */
bool hosts_requeue_answer(struct hosts_job *job, int64_t id, const cJSON *answer);

/* It is to end for another reason. */
void hosts_requeue_drop(struct hosts_job *job);

/* Within the transaction in which its nodes are released: it waits. */
void hosts_requeue_write(struct hosts_job *job);
/* And so for the core, and here. */
void hosts_requeue_put_back(struct hosts_job *job);

/* The first job of the queue has waited for long: jobs with a lower priority make room, where that is enough. */
void hosts_requeue_for_the_first(struct hosts *hosts);

#endif
