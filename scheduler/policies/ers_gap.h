/* When the first waiting job can start, and what later ones may take without delaying it: the shadow time of EASY. */
#ifndef SCHEDULER_POLICIES_ERS_GAP_H
#define SCHEDULER_POLICIES_ERS_GAP_H

#include "scheduler/policies/ers_view.h"

struct ers_gap {
    double start; /* seconds from now until `need` nodes are there; infinite: nobody waits, or they never are */
    int extra;    /* nodes that are over then */
    int ended;    /* entries of view->order that end until then */
};

/* Sorts view->order by end. */
struct ers_gap ers_gap_find(struct ers_view *view, int need);

/* Nobody waits. */
struct ers_gap ers_gap_none(void);

#endif
