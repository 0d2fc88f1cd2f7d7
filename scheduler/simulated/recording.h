/* Writing down what happens in a run, into its schedule. All return 0, or -1 when out of memory. */
#ifndef SCHEDULER_SIMULATED_RECORDING_H
#define SCHEDULER_SIMULATED_RECORDING_H

#include "scheduler/simulated/schedule.h"

int record_decision(struct schedule *schedule, double time, const struct decision *decision);

/* `text` is the schedule's from now on, also on failure. */
int record_event(struct schedule *schedule, double time, char *text);

/* What the job holds now; empty before its start. */
const struct stay *record_held(const struct job_record *job);

/* The job holds these nodes, too; or no longer these. Ascending. */
int record_more(struct job_record *job, double time, const int *nodes, int count);
int record_fewer(struct job_record *job, double time, const int *nodes, int count);
/* Nothing any more. */
void record_none(struct job_record *job, double time);

#endif
