/* A policy of another version of the interface. */
#include <epop/policy.h>

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state, (void)plan;
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {
        .abi_version = EPOP_POLICY_ABI_VERSION + 6, .struct_size = sizeof policy, .name = "later", .decide = decide};
    return &policy;
}
