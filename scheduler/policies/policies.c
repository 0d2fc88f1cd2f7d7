/* The list of the built-in policies. */
#include "scheduler/policies/policies.h"

#include <stddef.h>

const epop_policy_t *const policies[] = {&policy_easy,    &policy_ers,      &policy_gain, &policy_min, &policy_pref,
                                         &policy_average, &policy_keeppref, &policy_dmr,  NULL};
