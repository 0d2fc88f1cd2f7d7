/* A policy for tests of what is wanted: who waits starts at that, and who runs is resized to it. */
#include <epop/policy.h>
#include <stddef.h>

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++)
        if (state->waiting[i]->wanted <= epop_plan_idle(plan))
            epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "wanted");
    for (int i = 0; i < state->running_count; i++) {
        const epop_policy_job_t *job = state->running[i];
        int here =
            job->phase_count < 1 || (job->phases->elastic && epop_policy_accepts(&job->phases->range, job->wanted));
        if (job->state == EPOP_POLICY_RUNS && job->kind >= EPOP_MALLEABLE && job->nodes != job->wanted && here)
            epop_plan_resize(plan, job, job->wanted, "wanted");
    }
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                         .struct_size = sizeof policy,
                                         .name = "wanted",
                                         .summary = "each job as its user wants it",
                                         .decide = decide};
    return &policy;
}
