/* The built-in policies. They see the public header alone, as a user's own does. */
#ifndef SCHEDULER_POLICIES_POLICIES_H
#define SCHEDULER_POLICIES_POLICIES_H

#include <epop/policy.h>

extern const epop_policy_t policy_easy, policy_ers, policy_gain;

/* All of them; ends with NULL. */
extern const epop_policy_t *const policies[];

#endif
