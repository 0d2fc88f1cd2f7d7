/*
 * The SPMD-phase model and the resource range vector (dissertation 10.2.3, 10.3.2): which sizes a running job may have,
 * by MTCT.
 */
#ifndef SCHEDULER_POLICIES_ERS_MODEL_H
#define SCHEDULER_POLICIES_ERS_MODEL_H

#include <epop/policy.h>

#include "scheduler/policies/ers_options.h"

enum ers_verdict {
    ERS_UNKNOWN, /* no elastic job, or nothing was measured at its size */
    ERS_STAYS,   /* in the band, or there is no other size: no candidate */
    ERS_REDUCED, /* has to become `low` nodes */
    ERS_FREE     /* keeps its efficiency from `low` to `high` nodes */
};

/* An entry of the resource range vector. */
struct ers_range {
    enum ers_verdict verdict;
    int low, high;
    const epop_policy_sample_t *sample; /* NULL: the program asked for it */
};

/* Unknown: also while it adapts. */
struct ers_range ers_range_of(const struct ers_settings *settings, const epop_policy_job_t *job, double now);

/* What decided, as in "MTCT 0.004 below 0.01". */
void ers_range_text(const struct ers_settings *settings, const epop_policy_job_t *job, const struct ers_range *range,
                    char *text, int size);

/* Seconds that a resize takes: the mean of the job's own, or what one is taken to cost. */
double ers_cost(const epop_policy_state_t *state, const epop_policy_job_t *job);

#endif
