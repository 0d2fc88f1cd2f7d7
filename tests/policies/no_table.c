/* A policy that is none. */
#include <epop/policy.h>
#include <stddef.h>

const epop_policy_t *epop_get_policy(void)
{
    return NULL;
}
