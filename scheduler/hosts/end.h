/* Jobs end, or are ended. */
#ifndef SCHEDULER_HOSTS_END_H
#define SCHEDULER_HOSTS_END_H

#include "scheduler/hosts/state.h"

/* Nothing of it runs any more: `ended` is what its attendant says, NULL: it never ran; then `why`. The job must not be
 * used afterwards. */
void hosts_end(struct hosts_job *job, const cJSON *ended, const char *why);

/* It is to end: outcome "cancelled" or "failed". One that waits does so at once, another when its processes have ended.
 * Again: it is told again. */
void hosts_end_ask(struct hosts_job *job, const char *outcome, const char *why);

/* Those that have used up their limit. */
void hosts_end_late(struct hosts *hosts);

#endif
