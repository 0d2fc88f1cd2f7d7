/* Nodes that a job gives back. */
#ifndef SCHEDULER_HOSTS_FREE_H
#define SCHEDULER_HOSTS_FREE_H

#include "scheduler/hosts/state.h"

/* They are nobody's: in the journal, within the caller's transaction; then, when the core has been told, here. */
void hosts_free_journal(struct hosts_job *job, const int *nodes, int count);
void hosts_free_done(struct hosts_job *job, const int *nodes, int count);

/* An idle node is for the core what it is for us. */
void hosts_free_show(struct hosts *hosts, int node);

/* Something failed there: they are looked at before they are used again. */
void hosts_free_suspect(struct hosts *hosts, const int *nodes, int count);

#endif
