/* A job as the core keeps it: what policies see, and what that is made of. */
#ifndef SCHEDULER_CORE_JOB_H
#define SCHEDULER_CORE_JOB_H

#include <epop/policy.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/core/core.h"

struct job {
    epop_policy_job_t view; /* the first member: a pointer to one is a pointer to the other */
    char *name;
    epop_policy_phase_t *phases; /* all of them; the view has those from the present one on */
    double *begins;              /* of each, from `as_of` on; negative: not known */
    int phase_count;
    epop_policy_sample_t *samples;
    size_t sample_room;
    int *nodes; /* what it holds, in the order of its ranks */
    size_t node_room;
    double left, as_of;   /* while it runs: what was left at that time, at its size */
    double stalled, late; /* sums of its resizes: seconds of stand-still, and from decision to commit */
    uint64_t planned;     /* the last plan that has a decision on it */
};

/* A copy that waits. NULL: no memory. */
struct job *job_create(const struct core_job *given, double now);
void job_free(struct job *job);

/* As it was submitted, but for what was learned of it: it has no nodes, and is at its first phase. */
void job_waits(struct job *job);

/* Takes kind, sizes, bytes and phases of `fresh`, which is the caller's to free. */
void job_learn(struct job *job, struct job *fresh);

/* Room for that many nodes; -1: no memory. */
int job_reserve_nodes(struct job *job, int count);

/* Room for one more sample; -1: no memory. */
int job_reserve_sample(struct job *job);

/* How many it holds. */
int job_held(const struct job *job);

/* The present phase; `begins` as in core_phase, at `as_of`. */
void job_enter_phase(struct job *job, int phase, const double *begins);

#endif
