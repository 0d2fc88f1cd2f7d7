/* A policy without figures, for tests of what carries decisions out: who waits starts with what is idle, the first
 * waiting job makes running ones shrink to their least, and where none waits running ones grow. */
#include <epop/policy.h>
#include <stddef.h>

static int fit(const epop_policy_job_t *job, int nodes)
{
    if (job->kind == EPOP_RIGID)
        return nodes >= job->wanted ? job->wanted : 0;
    return epop_policy_fit(&job->range, nodes);
}

static int may_resize(const epop_policy_job_t *job)
{
    return job->state == EPOP_POLICY_RUNS && job->kind >= EPOP_MALLEABLE &&
           (job->phase_count < 1 || job->phases->elastic);
}

static void make_room(const epop_policy_state_t *state, epop_plan_t *plan, const epop_policy_job_t *first)
{
    int lacking = fit(first, state->node_count) ? (first->kind == EPOP_RIGID ? first->wanted : first->range.min) : 0;
    lacking -= epop_plan_idle(plan) + state->coming;
    for (int i = 0; i < state->running_count && lacking > 0; i++) {
        const epop_policy_job_t *job = state->running[i];
        int least = job->range.count ? job->range.sizes[0] : job->range.min;
        if (!may_resize(job) || job->nodes <= least)
            continue;
        lacking -= job->nodes - least;
        epop_plan_resize(plan, job, least, "room for job %d", (int)first->id);
    }
}

static void grow(const epop_policy_state_t *state, epop_plan_t *plan)
{
    for (int i = 0; i < state->running_count; i++) {
        const epop_policy_job_t *job = state->running[i];
        int nodes = epop_policy_fit(&job->range, job->nodes + epop_plan_idle(plan));
        if (may_resize(job) && nodes > job->nodes &&
            (job->phase_count < 1 || epop_policy_accepts(&job->phases->range, nodes)))
            epop_plan_resize(plan, job, nodes, "%d nodes are idle", epop_plan_idle(plan));
    }
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++) {
        int nodes = fit(state->waiting[i], epop_plan_idle(plan));
        if (nodes < 1 || epop_plan_start(plan, state->waiting[i], nodes, "%d nodes are idle", epop_plan_idle(plan))) {
            make_room(state, plan, state->waiting[i]);
            return;
        }
    }
    grow(state, plan);
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                         .struct_size = sizeof policy,
                                         .name = "share",
                                         .summary = "room for who waits, all for who runs",
                                         .decide = decide};
    return &policy;
}
