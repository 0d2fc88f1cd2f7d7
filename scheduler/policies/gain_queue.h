/* What the policies `gain` and `ers` have in common: what comes before all growth, and who starts when. */
#ifndef SCHEDULER_POLICIES_GAIN_QUEUE_H
#define SCHEDULER_POLICIES_GAIN_QUEUE_H

#include "scheduler/policies/gain_round.h"

/*
 * Jobs give back what is above the power cap or of no use in a near phase, get the sizes that their programs ask for,
 * and make room for those that wait. These become jobs of the round, which start now or as soon as others have given
 * them nodes, or they are promised a start.
 */
void gain_queue_serve(struct gain_round *round);

/* Starts are held against the schedule of EASY backfilling: the state has it, and resizes are no matter of minutes. */
bool gain_queue_is_firm(const struct gain_options *options, const epop_policy_state_t *state);

/* The starts and resizes of the round, and when the next decision is due. */
void gain_queue_write(const struct gain_round *round);

#endif
