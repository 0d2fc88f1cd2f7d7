/* From the answers to `measure` and `status` (schema/control.schema.json). */
#include "scheduler/core/sample.h"

#include <string.h>

#include "runtime/base/json.h"

void sample_read_mtct(epop_policy_sample_t *sample, const cJSON *mtct)
{
    sample->mtct = json_number(mtct, "mean", -1);
    sample->trend = json_number(mtct, "trend", -1);
    sample->variance = json_number(mtct, "variance", -1);
    sample->lo = json_number(mtct, "min", -1);
    sample->hi = json_number(mtct, "max", -1);
}

static bool is_type(const cJSON *element, const char *name)
{
    const char *type = json_text(element, "type");
    return type && !strcmp(type, name);
}

/* A rigid element that is the last one, behind others. */
static bool is_finalizer(const cJSON *element, const cJSON *next)
{
    return is_type(next, "END") && is_type(element, "RP") && json_int(element, "pc", 0) > 0;
}

bool left_read(double *left, const cJSON *status)
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(status, "element");
    const cJSON *next = cJSON_GetObjectItemCaseSensitive(status, "next");
    *left = json_number(next, "seconds", -1);
    return *left >= 0 || (cJSON_IsObject(next) && !is_finalizer(element, next));
}
