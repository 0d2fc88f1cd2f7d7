/* How far a job is: iterations of its present phase, at the pace of its present size. It stands still in a resize. */
#ifndef SCHEDULER_SIMULATED_PROGRESS_H
#define SCHEDULER_SIMULATED_PROGRESS_H

#include "scheduler/simulated/run.h"

const struct phase *progress_phase(const struct play *play);

/* The first iteration of this phase begins now. */
int progress_begin(struct run *run, struct play *play, int phase, struct error *error);

/* Brings `done` up to now. */
void progress_update(const struct run *run, struct play *play);

/* It goes on now, at its present size. */
int progress_go_on(struct run *run, struct play *play, struct error *error);

/* From now on it stands still. */
void progress_stand(struct run *run, struct play *play);

/* Seconds from now to the end at its present size, if it does not stand still. */
double progress_left(const struct play *play);

/* Seconds from now to the begin of each phase, from the present one on, each longer than it is by this factor. */
void progress_begins(const struct play *play, double factor, double *begins);

#endif
