/* The life of a job: submitted, started, ended, or taken over from the daemon before. */
#ifndef SCHEDULER_HOSTS_LIFE_H
#define SCHEDULER_HOSTS_LIFE_H

#include "scheduler/hosts/state.h"

/* ERROR_REFUSED: it can never run here; the line says what it lacks. */
int hosts_submit(struct hosts *hosts, const struct submission *submission, int64_t *number, struct error *error);

/* Lets those into the queue of which all that they come after has ended well; those of which one has not are ended. */
void hosts_settle(struct hosts *hosts);

/* The core has decided to start it on these nodes. A job that cannot be started has failed. */
void hosts_start(struct hosts_job *job, const struct decision *decision);

/* It is to end: outcome "cancelled" or "failed". One that waits does so at once, another when its processes have ended.
 * Again: it is told again. */
void hosts_end_ask(struct hosts_job *job, const char *outcome, const char *why);

/* Asks all to end that have used up their limit. */
void hosts_end_late(struct hosts *hosts);

/* Nothing of it runs any more: `ended` is what its attendant says, NULL: it never ran; then `why`. The job must not be
 * used afterwards. */
void hosts_end(struct hosts_job *job, const cJSON *ended, const char *why);

/* Takes up what the journal says: nodes, jobs, who holds what, and resizes that go on. -1: the journal is of other
 * nodes, or cannot be read. */
int hosts_recover(struct hosts *hosts, struct error *error);

/* The loop is about to run: attendants are sought, and started where a job was not. */
void hosts_recover_go_on(struct hosts *hosts);

#endif
