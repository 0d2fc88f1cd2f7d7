/* Idle nodes that no waiting job can use go to running jobs, where that pays. */
#ifndef SCHEDULER_POLICIES_GAIN_GROW_H
#define SCHEDULER_POLICIES_GAIN_GROW_H

struct gain_round;

void gain_grow(struct gain_round *round);

#endif
