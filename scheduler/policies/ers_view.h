/* What the steps of one decision of `ers` share: the running jobs with their ranges, and the nodes that are left. */
#ifndef SCHEDULER_POLICIES_ERS_VIEW_H
#define SCHEDULER_POLICIES_ERS_VIEW_H

#include <epop/policy.h>
#include <stdbool.h>

#include "scheduler/policies/ers_model.h"
#include "scheduler/policies/ers_options.h"

/* A job that runs, or that this decision gives nodes. */
struct ers_entry {
    const epop_policy_job_t *job;
    struct ers_range range;
    double work;   /* node seconds that are left */
    double cost;   /* seconds of an adaptation */
    int nodes;     /* that it has; when it adapts: will have */
    int target;    /* that it is to have: an entry of the resource scaling vector */
    bool later;    /* a growth for which nodes have to be given back first */
    char why[160]; /* of the target, if it is another */
};

struct ers_view {
    const struct ers_settings *settings;
    const epop_policy_state_t *state;
    epop_plan_t *plan;
    struct ers_entry *entries;
    struct ers_entry **order; /* as last sorted */
    int count;
    int idle;   /* nodes that are for nobody yet */
    int coming; /* likewise, but a resize has to give them back first */
    int spare;  /* nodes that optional reductions would still give, from view->order[spared] on */
    int spared;
    bool evaluation; /* all is steady, and it is time: jobs may shrink and grow */
    bool grows;      /* that, or it has just become steady: jobs may grow */
};

/* -1: no memory. */
int ers_view_open(struct ers_view *view, const struct ers_settings *settings, const epop_policy_state_t *state,
                  epop_plan_t *plan);
void ers_view_close(struct ers_view *view);

/* A waiting job has got nodes. */
void ers_view_add(struct ers_view *view, const epop_policy_job_t *job, int nodes);

/* Seconds until it ends at its target, if it scales linearly. */
double ers_remaining(const struct ers_entry *entry);

/* It may be given another size between low and high, and was not by now. */
bool ers_is_free(const struct ers_entry *entry);

/* Sorts view->order. */
void ers_sort_by_end(struct ers_view *view);
void ers_sort_longest_first(struct ers_view *view);

/* The seconds of the first evaluation after now. */
double ers_next_evaluation(const struct ers_settings *settings, double now);

#endif
