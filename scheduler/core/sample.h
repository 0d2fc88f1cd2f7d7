/* What jobs tell of their recent past, as policies have it. */
#ifndef SCHEDULER_CORE_SAMPLE_H
#define SCHEDULER_CORE_SAMPLE_H

#include <cjson/cJSON.h>
#include <epop/policy.h>

/* Of the member `mtct` of what was measured; -1 where nothing is known. */
void sample_read_mtct(epop_policy_sample_t *sample, const cJSON *mtct);

#endif
