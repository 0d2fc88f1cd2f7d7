/* The power cap: how many idle nodes may be put to work, and how many have to be given back. */
#ifndef SCHEDULER_POLICIES_GAIN_POWER_H
#define SCHEDULER_POLICIES_GAIN_POWER_H

#include <epop/policy.h>

struct gain_round;

/* Sets the nodes that are free, those that come, and those over the cap. */
void gain_power_begin(struct gain_round *round);

/* Nodes that could be busy if nothing ran. */
int gain_power_most(const epop_policy_state_t *state);

#endif
