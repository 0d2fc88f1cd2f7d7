/* What the core knows. */
#ifndef SCHEDULER_CORE_STATE_H
#define SCHEDULER_CORE_STATE_H

#include <stddef.h>

#include "scheduler/core/core.h"
#include "scheduler/core/jobs.h"
#include "scheduler/core/nodes.h"
#include "scheduler/core/plan.h"
#include "scheduler/core/queue.h"

struct core {
    struct nodes nodes;
    struct jobs jobs;
    struct queue running, waiting; /* by start; by submission */
    double now;                    /* of the last call that said one */
    epop_policy_state_t view;
    struct epop_plan plan;
    int *chosen; /* what the last plan took, and will give back */
    size_t chosen_room;
};

/* -1: it lies before what was said last, or is none. */
int state_check_time(const struct core *core, double now, struct error *error);

/* NULL, with a line: there is none. */
struct job *state_find(const struct core *core, int64_t id, struct error *error);

/* Brings the view up to that time. */
void state_show(struct core *core, double now);

#endif
