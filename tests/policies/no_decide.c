/* A policy that cannot decide. */
#include <epop/policy.h>

const epop_policy_t *epop_get_policy(void)
{
    static const epop_policy_t policy = {
        .abi_version = EPOP_POLICY_ABI_VERSION, .struct_size = sizeof policy, .name = "nothing"};
    return &policy;
}
