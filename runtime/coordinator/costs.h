/* What adaptations have cost so far, in the mean, by the sizes that they changed. */
#ifndef EPOP_COORDINATOR_COSTS_H
#define EPOP_COORDINATOR_COSTS_H

#include <cjson/cJSON.h>

#include "runtime/coordinator/record.h"

/* Of those among `count` that were committed; by schema/control.schema.json. */
cJSON *costs_json(const struct adaptation *history, int count);

/* Likewise of all of them together. */
cJSON *costs_mean_json(const struct adaptation *history, int count);

#endif
