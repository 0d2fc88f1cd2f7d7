/* A speedup model by its name and figures, as in options. */
#ifndef SCHEDULER_WORKLOAD_SPEEDUP_RULE_H
#define SCHEDULER_WORKLOAD_SPEEDUP_RULE_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "scheduler/workload/speedup.h"

/* The parallelism may be told as a multiple of the nodes that a job wants. */
struct speedup_rule {
    bool set;
    struct speedup speedup;
    bool relative; /* DOWNEY: `parallelism` times the wanted nodes */
};

/* "linear", "amdahl:serial=0.05", "downey:A=2w,sigma=0.5" (2w: twice the wanted nodes; A=64: of every job). */
int speedup_rule_parse(struct speedup_rule *rule, const char *text, struct error *error);

#endif
