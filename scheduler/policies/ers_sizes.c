/* Which sizes a job can have: those that it and the element that it runs accept. */
#include "scheduler/policies/ers_sizes.h"

#include <stddef.h>

/* NULL: the element has no rule of its own. */
static const epop_policy_range_t *of_phase(const epop_policy_job_t *job)
{
    if (!job->phase_count || job->phases[0].range.max <= 0)
        return NULL;
    return &job->phases[0].range;
}

bool ers_is_elastic(const epop_policy_job_t *job)
{
    return job->kind >= EPOP_MALLEABLE && (!job->phase_count || job->phases[0].elastic);
}

int ers_fit(const epop_policy_job_t *job, int nodes)
{
    const epop_policy_range_t *phase = of_phase(job);
    while (nodes > 0) {
        int fit = epop_policy_fit(&job->range, nodes);
        nodes = phase && fit > 0 ? epop_policy_fit(phase, fit) : fit;
        if (nodes == fit)
            return nodes;
    }
    return 0;
}

static bool accepts(const epop_policy_job_t *job, int nodes)
{
    return ers_fit(job, nodes) == nodes;
}

/* The first that the job accepts of the sizes of one range. */
static int first_of(const epop_policy_job_t *job, const epop_policy_range_t *range)
{
    if (!range->count)
        return range->min > 0 && accepts(job, range->min) ? range->min : 0;
    for (int i = 0; i < range->count; i++) {
        if (accepts(job, range->sizes[i]))
            return range->sizes[i];
    }
    return 0;
}

/* Without a list on either side the larger of the two minima is the least. */
int ers_least(const epop_policy_job_t *job)
{
    const epop_policy_range_t *phase = of_phase(job);
    if (!phase || job->range.count)
        return first_of(job, &job->range);
    if (phase->count)
        return first_of(job, phase);
    return first_of(job, phase->min > job->range.min ? phase : &job->range);
}

int ers_wanted(const epop_policy_job_t *job)
{
    if (job->kind == EPOP_RIGID)
        return job->wanted;
    int fit = ers_fit(job, job->wanted);
    return fit > 0 ? fit : ers_least(job);
}

int ers_size_on(const epop_policy_job_t *job, int nodes, bool moldable)
{
    int wanted = ers_wanted(job);
    if (wanted <= nodes)
        return wanted;
    return moldable && job->kind != EPOP_RIGID ? ers_fit(job, nodes) : 0;
}

double ers_work(const epop_policy_job_t *job)
{
    return (job->left > 0 ? job->left : job->limit) * job->wanted;
}
