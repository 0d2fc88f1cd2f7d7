/* From the answer to `measure` (schema/control.schema.json). */
#include "scheduler/core/sample.h"

#include "runtime/base/json.h"

void sample_read_mtct(epop_policy_sample_t *sample, const cJSON *mtct)
{
    sample->mtct = json_number(mtct, "mean", -1);
    sample->trend = json_number(mtct, "trend", -1);
    sample->variance = json_number(mtct, "variance", -1);
    sample->lo = json_number(mtct, "min", -1);
    sample->hi = json_number(mtct, "max", -1);
}
