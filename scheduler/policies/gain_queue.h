/* The queue of jobs that wait, as the policies `gain` and `ers` serve it. */
#ifndef SCHEDULER_POLICIES_GAIN_QUEUE_H
#define SCHEDULER_POLICIES_GAIN_QUEUE_H

#include "scheduler/policies/gain_round.h"

/* Jobs that wait become jobs of the round, now or as soon as others have given them nodes, or are promised a start. */
void gain_queue_serve(struct gain_round *round);

#endif
