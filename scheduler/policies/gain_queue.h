/*
 * Jobs that wait, first come first served. The first one for which there is no room is promised a start; those behind
 * it start if they do not delay that (EASY backfilling).
 */
#ifndef SCHEDULER_POLICIES_GAIN_QUEUE_H
#define SCHEDULER_POLICIES_GAIN_QUEUE_H

struct gain_round;

void gain_queue_serve(struct gain_round *round);

#endif
