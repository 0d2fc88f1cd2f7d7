/* The jobs that the daemon has. */
#ifndef SCHEDULER_HOSTS_JOBS_H
#define SCHEDULER_HOSTS_JOBS_H

#include "scheduler/hosts/state.h"

/* A copy of what the journal has; waits. NULL: no memory. */
struct hosts_job *hosts_jobs_add(struct hosts *hosts, const struct journal_job *from);
struct hosts_job *hosts_jobs_find(const struct hosts *hosts, int64_t number);

/* It has ended, and must not be used any more; its memory goes with hosts_jobs_sweep, as who is called on its behalf
 * may still look at it. */
void hosts_jobs_over(struct hosts_job *job);
void hosts_jobs_sweep(struct hosts *hosts);
void hosts_jobs_free(struct hosts *hosts);

/* Ranks at so many nodes, and nodes of so many ranks. */
int hosts_jobs_ranks(const struct hosts_job *job, int nodes);
int hosts_jobs_nodes(const struct hosts *hosts, int ranks);

/* Submits it to the core as what it is so far, or tells the core what has turned out. */
int hosts_jobs_submit(struct hosts_job *job, struct error *error);
void hosts_jobs_learned(struct hosts_job *job);

/* By journal or by hand: the nodes that it holds, in the order of its ranks. */
void hosts_jobs_hold(struct hosts_job *job, const int *nodes, int count);
/* They are no longer its own. The others keep their order. */
void hosts_jobs_give(struct hosts_job *job, const int *nodes, int count);

#endif
