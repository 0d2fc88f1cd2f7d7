/* A recorded run comes again: the same decisions at the same times. */
#ifndef SCHEDULER_SIMULATED_REPLAY_H
#define SCHEDULER_SIMULATED_REPLAY_H

#include "scheduler/simulated/run.h"

/* The decision that was recorded last, against the recorded run. -1: the line names both. */
int replay_compare(struct run *run, struct error *error);

/* The run is over: nothing that was recorded is missing. */
int replay_end(const struct run *run, struct error *error);

#endif
