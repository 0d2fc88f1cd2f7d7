/* Node counts in JSON workloads: min, max, and sizes as a list or a rule. */
#ifndef SCHEDULER_WORKLOAD_JSON_RANGE_H
#define SCHEDULER_WORKLOAD_JSON_RANGE_H

#include <epop/policy.h>

#include "runtime/base/error.h"
#include "scheduler/workload/place.h"

/* range->min and ->max are bounds, and become the smallest and the largest size that there is. place->item NULL: all
 * sizes between the bounds. range->sizes is the caller's to free. */
int json_range(const struct place *place, epop_policy_range_t *range, struct error *error);

#endif
