/* Sizes that a job may have by several ranges at once, as its own and that of its present phase. */
#ifndef SCHEDULER_POLICIES_SIZES_H
#define SCHEDULER_POLICIES_SIZES_H

#include <epop/policy.h>

/* The largest one up to `nodes` that all `count` ranges accept; 0: there is none. */
int sizes_fit(const epop_policy_range_t *const ranges[], int count, int nodes);

/* The smallest one that is `nodes` or more; 0: there is none. */
int sizes_from(const epop_policy_range_t *const ranges[], int count, int nodes);

#endif
