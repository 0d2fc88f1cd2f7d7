/* Shortest job first; if it does not fit, malleable jobs shrink to let it start. */
#include <epop/policy.h>
#include <stdlib.h>
#include <string.h>

static int by_limit(const void *one, const void *other)
{
    const epop_policy_job_t *a = *(const epop_policy_job_t *const *)one, *b = *(const epop_policy_job_t *const *)other;
    return a->limit < b->limit ? -1 : a->limit > b->limit ? 1 : (a->id > b->id) - (a->id < b->id);
}

/* The size that it can shrink to now, `missing` nodes below its present one or as near as it can; else the present one.
 */
static int smaller(const epop_policy_job_t *job, int missing)
{
    int least = job->range.min > job->nodes - missing ? job->range.min : job->nodes - missing;
    int nodes = epop_policy_fit(&job->range, least);
    if (job->kind < EPOP_MALLEABLE || job->state != EPOP_POLICY_RUNS)
        return job->nodes;
    if (job->phase_count > 0 && !(job->phases->elastic && epop_policy_accepts(&job->phases->range, nodes)))
        return job->nodes;
    return nodes;
}

/* Those that have run longest give first. What they give comes when their resizes have committed. */
static void make_room(const epop_policy_state_t *state, epop_plan_t *plan, const epop_policy_job_t *next, int missing)
{
    for (int i = 0; i < state->running_count && missing > 0; i++) {
        const epop_policy_job_t *job = state->running[i];
        int nodes = smaller(job, missing);
        if (nodes < job->nodes && epop_plan_resize(plan, job, nodes, "%d nodes are missing for job %lld, the shortest",
                                                   missing, (long long)next->id) == 0)
            missing -= job->nodes - nodes;
    }
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    int count = state->waiting_count;
    const epop_policy_job_t **jobs = count > 0 ? malloc((size_t)count * sizeof *jobs) : NULL;
    (void)settings; /* there are no options */
    if (!jobs)
        return;
    memcpy(jobs, state->waiting, (size_t)count * sizeof *jobs);
    qsort(jobs, (size_t)count, sizeof *jobs, by_limit);
    for (int i = 0; i < count; i++) {
        int idle = epop_plan_idle(plan), wanted = jobs[i]->wanted;
        if (wanted > state->node_count - state->down)
            continue; /* until nodes are up again */
        if (wanted > idle) {
            make_room(state, plan, jobs[i], wanted - idle - state->coming);
            break;
        }
        epop_plan_start(plan, jobs[i], wanted, "the shortest: %.0f s, %d of %d idle nodes", jobs[i]->limit, wanted,
                        idle);
    }
    free(jobs);
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                         .struct_size = sizeof policy,
                                         .name = "shortest",
                                         .summary = "shortest job first; malleable jobs shrink to let it start",
                                         .decide = decide};
    return &policy;
}
