/*
 * How a job speeds up with the nodes that it has, fitted to what was measured of it: Amdahl's law from two sizes on, or
 * Downey's where that fits three or more better; the time in MPI where one size was seen; else what the user's
 * request implies.
 */
#ifndef SCHEDULER_POLICIES_GAIN_MODEL_H
#define SCHEDULER_POLICIES_GAIN_MODEL_H

#include <epop/policy.h>

enum gain_source { GAIN_ASSUMED, GAIN_FROM_MTCT, GAIN_FROM_SIZES };

struct gain_model {
    double share;              /* of the work that does not speed up (Amdahl) */
    double parallelism, sigma; /* Downey's A and sigma; parallelism 0: it is Amdahl's law */
    enum gain_source source;
};

/* Of the present phase. `efficiency`: at `wanted` nodes where nothing was measured. */
struct gain_model gain_model_fit(const epop_policy_job_t *job, double efficiency);

/* Over one node; `nodes` is 1 or more. */
double gain_speedup(const struct gain_model *model, int nodes);

#endif
