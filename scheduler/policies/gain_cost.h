/* Seconds that a resize makes a job stand still: by the site's rule, scaled by what the job's own resizes took. */
#ifndef SCHEDULER_POLICIES_GAIN_COST_H
#define SCHEDULER_POLICIES_GAIN_COST_H

#include <epop/policy.h>

/* Between two sizes, either way. */
double gain_cost(const epop_policy_job_t *job, const epop_policy_state_t *state, int one, int other);

#endif
