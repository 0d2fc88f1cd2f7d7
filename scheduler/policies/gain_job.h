/*
 * A job as `gain` plans with it: one that runs, or one that this plan starts. Its size in the plan, between which
 * limits the plan may change it, and what times follow.
 */
#ifndef SCHEDULER_POLICIES_GAIN_JOB_H
#define SCHEDULER_POLICIES_GAIN_JOB_H

#include <epop/policy.h>
#include <stdbool.h>

#include "scheduler/policies/gain_model.h"
#include "scheduler/policies/gain_options.h"

#define GAIN_REASON 160

struct gain_job {
    const epop_policy_job_t *job;
    struct gain_model model;
    int from;        /* nodes before the plan; 0: it starts */
    int nodes;       /* in the plan */
    int trial;       /* what is being looked at */
    int top;         /* at most at its start: what its user wants, or the accepted size next to it */
    const char *why; /* of a start */
    bool held;       /* starts as soon as others have given back what it waits for */
    bool movable;    /* its size may be changed now */
    double bound;    /* seconds until it may, as it has not been at its size for long; 0: that is not why */
    bool ending;     /* the next phase is near: its range counts, too */
    double near;     /* seconds before a phase at which that is so */
    double speed;    /* speedup at `nodes` */
    double work;     /* that is left: seconds on one node */
    double weight;
    double latency;
    char reason[GAIN_REASON];
};

struct gain_job gain_job_of(const epop_policy_job_t *job, const epop_policy_state_t *state,
                            const struct gain_options *options);

/* Seconds that it still needs, as it is told; a job of which nothing is known is taken to be long. */
double gain_job_left(const epop_policy_job_t *job);

bool gain_job_flexible(const epop_policy_job_t *job);

/* It can have another size while it runs, from now on and for at least half of its time. */
bool gain_job_grows(const epop_policy_job_t *job);

/* Seconds that it still needs at so many nodes. */
double gain_job_seconds(const struct gain_job *job, int nodes);

/* At most so many, whatever its speedup is; of a job that waits. */
double gain_job_at_most(const struct gain_job *job, int nodes);

/* What a second of this job counts: slowdown is relative to the time that it takes. */
double gain_job_weight(const epop_policy_job_t *job);

/* Seconds that a resize makes it stand still. */
double gain_job_cost(const struct gain_job *job, const epop_policy_state_t *state, int nodes);

/* And until it is done: nodes that it gives back are free only then. */
double gain_job_takes(const struct gain_job *job, const epop_policy_state_t *state, int nodes);

/* The largest size that it accepts, in all phases that count, up to `nodes`; the smallest above `nodes`. 0: none. */
int gain_job_fit(const struct gain_job *job, int nodes);
int gain_job_above(const struct gain_job *job, int nodes);

void gain_job_set(struct gain_job *job, int nodes);

/* Seconds from now to a phase that does not accept so many nodes, at most to the job's end. */
double gain_job_until(const struct gain_job *job, int nodes);

#endif
