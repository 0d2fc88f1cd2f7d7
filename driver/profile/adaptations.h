/* The part of the profile on adaptations and checkpoints: of the coordinator, and what the processes measured. */
#ifndef DRIVER_PROFILE_ADAPTATIONS_H
#define DRIVER_PROFILE_ADAPTATIONS_H

#include <cjson/cJSON.h>
#include <epop/driver.h>

/* records: parsed, with "process"; elements: of the program's structure. */
cJSON *adaptations_json(const epop_job_t *job, const cJSON *records, const cJSON *elements);
cJSON *world_history_json(const epop_job_t *job);
cJSON *refusals_json(const epop_job_t *job);
cJSON *checkpoints_json(const epop_job_t *job, const cJSON *elements);

#endif
