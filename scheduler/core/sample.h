/* What jobs tell of their recent past and of their rest, as policies have it. */
#ifndef SCHEDULER_CORE_SAMPLE_H
#define SCHEDULER_CORE_SAMPLE_H

#include <cjson/cJSON.h>
#include <epop/policy.h>
#include <stdbool.h>

/* Of the member `mtct` of what was measured; -1 where nothing is known. */
void sample_read_mtct(epop_policy_sample_t *sample, const cJSON *mtct);

/* Seconds that a job still needs, by the progress of its present element; of elements behind it nothing is known. -1:
 * it says nothing. False: what it said before counts on, as it is in a finalizer, or at a branch. */
bool left_read(double *left, const cJSON *status);

#endif
