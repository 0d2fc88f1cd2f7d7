/*
 * What is measured of a job that reports its progress, told to the core: after five iterations at a size, after ten,
 * twenty, and so on, and at the end of the phase. Values have a seeded noise.
 */
#ifndef SCHEDULER_SIMULATED_MEASURING_H
#define SCHEDULER_SIMULATED_MEASURING_H

#include "scheduler/simulated/run.h"

/* A phase, or a size, begins. */
int measuring_begin(struct run *run, struct play *play, struct error *error);

/* It does not compute for now. */
void measuring_stop(struct play *play);

/* EVENT_MEASURE. The first sample at a size is news to the policy. */
int measuring_event(struct run *run, struct play *play, struct error *error);

/* The phase ends: what it has come to. */
int measuring_end(struct run *run, struct play *play, struct error *error);

#endif
