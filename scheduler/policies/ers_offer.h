/*
 * The resource offer (dissertation 10.3.1, steps 3 and 4; 16.2): what running jobs have to give back, and what they can
 * do without when an earlier job would have to wait.
 */
#ifndef SCHEDULER_POLICIES_ERS_OFFER_H
#define SCHEDULER_POLICIES_ERS_OFFER_H

#include "scheduler/policies/ers_view.h"

/* The mandatory reductions. */
void ers_offer_mandatory(struct ers_view *view);

/* Whether optional reductions are in question for a job that waits: with them it ends earlier by enough. Before the
 * next two. */
bool ers_offer_open(struct ers_view *view, const epop_policy_job_t *job);

/* Nodes that optional reductions would still give. */
int ers_offer_size(const struct ers_view *view);

/* Reduces jobs until that many nodes more are coming; at most ers_offer_size(). */
void ers_offer_take(struct ers_view *view, int nodes, const epop_policy_job_t *job);

#endif
