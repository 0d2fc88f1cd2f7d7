/* Recoveries as JSON: see recoveries.h. */
#include "driver/common/recoveries.h"

void recoveries_add(cJSON *object, const epop_job_t *job)
{
    cJSON *list = job->recovery_count ? cJSON_AddArrayToObject(object, "recoveries") : NULL;
    for (int i = 0; i < job->recovery_count; i++) {
        const epop_recovery_t *recovery = &job->recoveries[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "time", recovery->time);
        cJSON_AddStringToObject(json, "reason", recovery->reason);
        cJSON_AddStringToObject(json, "from", recovery->from);
        cJSON_AddNumberToObject(json, "number", recovery->number);
        cJSON_AddNumberToObject(json, "size", recovery->size);
        cJSON_AddNumberToObject(json, "iterations", (double)recovery->iterations);
        cJSON_AddNumberToObject(json, "lost", recovery->lost);
        cJSON_AddNumberToObject(json, "seconds", recovery->seconds);
        cJSON_AddItemToArray(list, json);
    }
}
