/*
 * The schedule that EASY backfilling would give the same jobs, each at the nodes that its user wanted: what a policy
 * that resizes jobs can be held against, and what it can promise. Jobs that have ended here may still run there.
 */
#ifndef SCHEDULER_CORE_YARDSTICK_H
#define SCHEDULER_CORE_YARDSTICK_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/core/shares.h"

#define YARDSTICK_ROUNDED 1e-3 /* seconds: sums of times are rounded */

struct yardstick_job {
    struct turn turn;
    int nodes;
    double seconds;    /* that it takes at these nodes: its limit, or as it turned out */
    double start, end; /* infinite: not known; it waits behind many others */
    bool runs;         /* it has started there */
    bool told;         /* the seconds are by its progress */
    bool ended;        /* in truth */
};

struct yardstick {
    struct yardstick_job *jobs; /* in the order of the queue; those that are not over there */
    size_t count, room;
    epop_policy_use_t *uses;
    size_t uses_room;
    double seen;  /* of the last plan */
    double known; /* all starts up to that time are planned */
    int up;       /* nodes, then */
    bool begun;   /* there was a plan */
    bool changed; /* one has to be made */
};

void yardstick_free(struct yardstick *yardstick);

/* A job comes, of which `start` and what is behind are not looked at. -1: no memory. */
int yardstick_add(struct yardstick *yardstick, const struct yardstick_job *job);
/* The job of that number has another priority or latest start, or was promised one. */
void yardstick_turn(struct yardstick *yardstick, const struct turn *turn);
/* Accounts have other ranks. What has started by the last plan has. */
void yardstick_sort(struct yardstick *yardstick);
/* It begins anew. */
void yardstick_again(struct yardstick *yardstick, int64_t id);
/* It may take so many seconds at its wanted nodes, as its user says now. */
void yardstick_limited(struct yardstick *yardstick, int64_t id, double seconds, double now);
/* It will take so many seconds at its wanted nodes, by its progress. */
void yardstick_told(struct yardstick *yardstick, int64_t id, double seconds, double now);
/* It has ended, and would have taken so many; `exact`: or else about so many. One that never started: 0. */
void yardstick_ended(struct yardstick *yardstick, int64_t id, double seconds, bool exact, double now);
/* The job at that place has not ended when it was to: nor has anything started since. */
void yardstick_goes_on(struct yardstick *yardstick, size_t place, double now);
/* It runs since then: of a site that starts again. */
void yardstick_started(struct yardstick *yardstick, int64_t id, double start);

/* Plans anew if anything has changed; `up` nodes are there. Drops what is over. */
void yardstick_plan(struct yardstick *yardstick, double now, int up);

#endif
