/*
 * Starts that were promised. With true limits no job that was started from behind may keep another from its first
 * promise: when that time has come and the job waits, the idle nodes and those of jobs submitted later and started
 * since the promise must be too few for it. Held as long as no limit is too short, what jobs say of their progress is
 * right, no fault was injected, all jobs start as large as they wanted, and none is resized: else nobody can know when
 * nodes become idle.
 */
#ifndef SCHEDULER_SIMULATED_PROMISE_H
#define SCHEDULER_SIMULATED_PROMISE_H

#include "scheduler/simulated/run.h"

/* Whether promises can be held against the policy at all. */
bool promise_exact(const struct run *run);

/* A reservation. */
int promise_made(struct run *run, struct play *play, const struct decision *decision, struct error *error);

/* EVENT_PROMISE: the time of the first one is over. */
int promise_event(const struct run *run, const struct play *play, struct error *error);

#endif
