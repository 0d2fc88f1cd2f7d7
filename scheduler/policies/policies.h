/* The built-in policies. They see the public header alone, as a user's own does. */
#ifndef SCHEDULER_POLICIES_POLICIES_H
#define SCHEDULER_POLICIES_POLICIES_H

#include <epop/policy.h>

extern const epop_policy_t policy_easy, policy_ers, policy_gain;
extern const epop_policy_t policy_min, policy_pref, policy_average, policy_keeppref, policy_dmr; /* published ones */

/* All of them, those that are compared where none is named first; ends with NULL. */
#define POLICIES_COMPARED 3
extern const epop_policy_t *const policies[];

#endif
