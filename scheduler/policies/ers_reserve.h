/*
 * The first rule of elastic backfilling (dissertation 10.3.3): a job that waits for lack of nodes gets a reservation,
 * and the running jobs whose nodes it waits for are time balanced, so that it starts earlier.
 */
#ifndef SCHEDULER_POLICIES_ERS_RESERVE_H
#define SCHEDULER_POLICIES_ERS_RESERVE_H

#include "scheduler/policies/ers_gap.h"
#include "scheduler/policies/ers_view.h"

/* `head`: place in the queue of the first job that waits; the queue's length: none does. */
struct ers_gap ers_reserve(struct ers_view *view, int head);

#endif
