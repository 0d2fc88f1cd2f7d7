/* A job tells the mean of its resizes, not their sizes; those at which it was measured stand for them. */
#include "scheduler/policies/gain_cost.h"

#include <math.h>

static double ruled(const epop_policy_job_t *job, const epop_policy_state_t *state, int one, int other)
{
    int larger = one > other ? one : other, smaller = one > other ? other : one;
    double moved = job->bytes > 0 && smaller > 0 ? job->bytes / smaller : 0;
    return state->resize_base + state->resize_per_node * larger + state->resize_per_byte * moved;
}

/* Of resizes between the sizes at which it was measured and the present one; 0: it was at no other. */
static double usual(const epop_policy_job_t *job, const epop_policy_state_t *state)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < job->sample_count; i++)
        if (job->samples[i].nodes > 0 && job->samples[i].nodes != job->nodes)
            sum += ruled(job, state, job->samples[i].nodes, job->nodes), count++;
    return count > 0 ? sum / count : 0;
}

double gain_cost(const epop_policy_job_t *job, const epop_policy_state_t *state, int one, int other)
{
    double rule = ruled(job, state, one, other);
    if (job->resizes < 1 || job->resize_cost < 0)
        return rule;
    double before = usual(job, state);
    return before > 0 ? job->resize_cost * (rule / before) : fmax(job->resize_cost, rule);
}
