/* A plan while a policy fills it: each call is checked against the state and what the plan has already. */
#ifndef SCHEDULER_CORE_PLAN_H
#define SCHEDULER_CORE_PLAN_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/core/core.h"
#include "scheduler/core/job.h"
#include "scheduler/core/nodes.h"

struct epop_plan {
    const struct jobs *jobs;
    struct nodes *nodes;
    const epop_policy_state_t *state; /* NULL: no policy is being asked */
    struct decision *items;           /* their nodes are not chosen yet */
    size_t count, room;
    uint64_t number; /* of the plan; what a job has that is in it */
    int idle;        /* after what it has */
    int changed;     /* nodes that are taken, or will be given back */
    double wake;
    bool wrong;
    char complaint[400]; /* on the first call that could not be */
};

/* An empty one. */
void plan_begin(struct epop_plan *plan, const struct jobs *jobs, struct nodes *nodes, const epop_policy_state_t *state);
/* The job balances before it is decided on. */
void plan_balance(struct epop_plan *plan, struct job *job);
/* The job shrinks to what it had before it began to move. */
void plan_back(struct epop_plan *plan, struct job *job);
/* The plan is invalid, for a reason that is none of the calls'. Always -1; the first complaint counts. */
int plan_refuse(struct epop_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* No more calls are taken. */
void plan_end(struct epop_plan *plan);
void plan_free(struct epop_plan *plan);

#endif
