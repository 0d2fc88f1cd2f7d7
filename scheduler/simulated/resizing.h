/*
 * A resize as the real thing does it: processes are started while the job computes on; then, in an elastic phase that
 * accepts the size, it stands still; then it has the new size. A request that is ready in a rigid phase waits for the
 * next elastic one. In a phase that does not accept the size it is refused.
 */
#ifndef SCHEDULER_SIMULATED_RESIZING_H
#define SCHEDULER_SIMULATED_RESIZING_H

#include "scheduler/simulated/run.h"

int resizing_begin(struct run *run, struct play *play, const struct decision *decision, struct error *error);

/* EVENT_RESIZE: the next step is due. */
int resizing_event(struct run *run, struct play *play, struct error *error);

/* Another phase has begun. */
int resizing_phase(struct run *run, struct play *play, struct error *error);

/* Called off; the job goes on as before. why: the end of the line "resize of job 7 to 12 nodes is refused: ...". */
int resizing_refuse(struct run *run, struct play *play, const char *why, struct error *error);

/* The job is no more: there is no resize. */
void resizing_drop(struct play *play);

/* It gets this node, and does not compute on it yet. */
bool resizing_awaits(const struct play *play, int node);

#endif
