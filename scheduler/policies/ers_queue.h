/*
 * The batch part (dissertation 16.2): waiting jobs start in the order in which they came, at a size of the scheduler's
 * choice, from what the running jobs offer.
 */
#ifndef SCHEDULER_POLICIES_ERS_QUEUE_H
#define SCHEDULER_POLICIES_ERS_QUEUE_H

#include "scheduler/policies/ers_gap.h"
#include "scheduler/policies/ers_view.h"

/* Starts jobs, or sets nodes aside that come for them, until one does not fit. Returns its place in the queue, or the
 * queue's length. */
int ers_queue_start(struct ers_view *view);

/* Starts jobs behind the first that waits, where they do not delay it. */
void ers_queue_backfill(struct ers_view *view, int head, struct ers_gap *gap);

#endif
