/* What is commonly mistaken for a profile is told by name; the rest is for the schema. */
#include "report/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA  "epop.profile"
#define VERSION 2

static int check_kind(const cJSON *json, char *error, size_t error_size)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(json, "schema");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "version");
    if (cJSON_IsArray(json) || cJSON_HasObjectItem(json, "traceEvents"))
        snprintf(error, error_size, "looks like a trace, not a profile; a trace comes after the profile");
    else if (!cJSON_IsString(schema))
        snprintf(error, error_size,
                 "is not a profile (epop --driver profile --output FILE writes one), nor a schedule");
    else if (strcmp(schema->valuestring, SCHEMA) != 0)
        snprintf(error, error_size, "is not a profile, but %.60s", schema->valuestring);
    else if (!cJSON_IsNumber(version))
        snprintf(error, error_size, "is a profile without a version");
    else if (version->valuedouble != VERSION)
        snprintf(error, error_size, "is a profile of version %g; this epop-report reads version %d",
                 version->valuedouble, VERSION);
    else
        return 0;
    return -1;
}

int profile_check(const cJSON *json, struct engine *engine, char *error, size_t error_size)
{
    if (check_kind(json, error, error_size) != 0)
        return -1;
    char *text = cJSON_PrintUnformatted(json);
    char *problem = text != NULL ? engine_call(engine, "problem", text, "", 0, error, error_size) : NULL;
    int failed = problem == NULL || *problem != '\0';
    if (problem != NULL && failed)
        snprintf(error, error_size, "is not a valid profile: %s", problem);
    free(problem);
    free(text);
    return failed ? -1 : 0;
}
