/* What JSON workloads say of a job, or of an application for all its jobs. */
#ifndef SCHEDULER_WORKLOAD_JSON_WORK_H
#define SCHEDULER_WORKLOAD_JSON_WORK_H

#include "runtime/base/error.h"
#include "scheduler/workload/place.h"
#include "scheduler/workload/workload.h"

/* A job in the making: what is read later goes before what was there. */
struct draft {
    struct work *work;
    int nodes;                        /* of the machine */
    int kind, progress;               /* an epop_policy_kind_t; a truth value */
    int min, max;                     /* 0: not said */
    double scale;                     /* of all iterations */
    const char *name;                 /* the document's */
    bool drawn;                       /* nodes and scale may be lists, which the caller draws from */
    struct place sizes;               /* .item NULL: not said */
    struct place phases, application; /* the same */
};

/* Keys that a job and an application have in common, for lists of keys. */
#define DRAFT_KEYS                                                                                                     \
    "name", "kind", "nodes", "min", "max", "sizes", "limit", "bytes", "progress", "user", "scale", "phases"

void draft_begin(struct draft *draft, struct work *work, int nodes);
/* Takes what is there. `place` and what it is in must live until draft_finish. */
int draft_read(struct draft *draft, const struct place *place, struct error *error);
/* The work, whole. `place` is for errors. */
int draft_finish(struct draft *draft, const struct place *place, struct error *error);

#endif
