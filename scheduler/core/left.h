/* How long a running job will still take, and when its phases begin: told by its progress or taken from its user's
 * limit, and counted down. */
#ifndef SCHEDULER_CORE_LEFT_H
#define SCHEDULER_CORE_LEFT_H

#include "scheduler/core/job.h"

/* What a job has left that should be over: it runs, so it needs more than nothing. */
#define LEFT_LEAST 0.001

/* It starts: all of the user's limit, at the nodes that it has. */
void left_starts(struct job *job, double now);
/* Its progress says so. */
void left_told(struct job *job, double now, double left);
/* A phase begins; `begins` as in core_phase. */
void left_phase(struct job *job, double now, int phase, const double *begins);
/* It stood still for `stall` seconds, and has its new size: from here on the rest scales with the nodes. */
void left_resized(struct job *job, double now, double stall, int from, int to);
/* The view at that time. */
void left_show(struct job *job, double now);

#endif
