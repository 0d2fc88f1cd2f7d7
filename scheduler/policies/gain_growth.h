/* Idle nodes that nobody waits for, as the policies `gain` and `ers` give them to running jobs. */
#ifndef SCHEDULER_POLICIES_GAIN_GROWTH_H
#define SCHEDULER_POLICIES_GAIN_GROWTH_H

#include <stdbool.h>

#include "scheduler/policies/gain_round.h"

/*
 * Where that pays, node by node to the job to which a node is worth most: relative speedup by weight. `small`: only to
 * jobs that have fewer nodes than their users want.
 */
void gain_growth_give(struct gain_round *round, bool small);

/*
 * With weak scaling more nodes than the user wants bring work that nobody asked for, and no earlier end. They are given
 * where nobody waits, after all others, for as much more work as would pay for a growth.
 */
void gain_growth_give_work(struct gain_round *round);

#endif
