/* A job from its submission to its end: see docs/reference/simulator.md for what is modelled. */
#ifndef SCHEDULER_SIMULATED_RUNNING_H
#define SCHEDULER_SIMULATED_RUNNING_H

#include "scheduler/simulated/run.h"

/* EVENT_SUBMIT. One that can never run is over at once, and the schedule says why. */
int running_submit(struct run *run, struct play *play, struct error *error);

int running_start(struct run *run, struct play *play, const struct decision *decision, struct error *error);

/* EVENT_PHASE: the phase is done; the next one begins, or the job ends. */
int running_phase(struct run *run, struct play *play, struct error *error);

/* It lost a node: it waits again, and will begin anew. */
int running_requeue(struct run *run, struct play *play, struct error *error);

#endif
