/* When the first waiting job can start, and what later ones may take without delaying it: the shadow time of EASY. */
#ifndef SCHEDULER_POLICIES_ERS_GAP_H
#define SCHEDULER_POLICIES_ERS_GAP_H

#include "scheduler/policies/ers_view.h"

struct ers_gap {
    double start; /* seconds from now until it has its nodes; infinite: nobody waits, or they never come */
    int size;     /* of the job, then */
    int extra;    /* nodes that are over then */
    int ended;    /* entries of view->order that end until then */
};

/* When so many nodes are there. Sorts view->order by end. */
struct ers_gap ers_gap_find(struct ers_view *view, int size);

/* The time and the size with which the job ends first. Likewise. */
struct ers_gap ers_gap_best(struct ers_view *view, const epop_policy_job_t *job);

/* Nobody waits. */
struct ers_gap ers_gap_none(void);

#endif
