/*
 * Drained nodes are emptied: a job that runs there takes an idle node before it gives one back, or afterwards where it
 * accepts no larger size, and so goes on at the size that it had.
 */
#ifndef SCHEDULER_HOSTS_DRAIN_H
#define SCHEDULER_HOSTS_DRAIN_H

#include "scheduler/hosts/state.h"

/* Before the policy is asked: what can be done now. Else the job keeps the node until it ends. */
void hosts_drain(struct hosts *hosts);

/* The policy has decided on its size: that counts from now on. */
void hosts_drain_forget(struct hosts_job *job);

#endif
