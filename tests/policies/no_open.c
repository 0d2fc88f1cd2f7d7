/* A policy that cannot be opened; its close must not be called. */
#include <epop/policy.h>
#include <stdlib.h>

static int fail(void **settings)
{
    (void)settings;
    return 7;
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state, (void)plan;
}

static void end(void *settings)
{
    (void)settings;
    abort();
}

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                         .struct_size = sizeof policy,
                                         .name = "closed",
                                         .open = fail,
                                         .decide = decide,
                                         .close = end};
    return &policy;
}
