/* The machine: who holds each node, and which are chosen next. */
#ifndef SCHEDULER_CORE_NODES_H
#define SCHEDULER_CORE_NODES_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/core/topology.h"

struct nodes_leaf {
    int own;     /* nodes of the job */
    bool target; /* it is to be below this one */
};

struct nodes {
    epop_policy_node_t *items;
    uint64_t *free; /* a bit for each that is idle */
    int count, idle, down;
    const struct topology *topology; /* NULL: none is known */
    int *below;                      /* for what is looked at: nodes below each switch */
    struct nodes_leaf *leaves;       /* of each switch, where a job is to be moved */
    const uint64_t *usable;          /* while some are chosen: a bit for each that may be */
    uint64_t *quick;                 /* room for that, and for speeds; NULL: all are as fast as the others */
    double *speeds;
};

/* All idle. -1: no memory. */
int nodes_init(struct nodes *nodes, int count);
void nodes_free(struct nodes *nodes);

/* The tree, which stays where it is. -1: no memory. */
int nodes_set_topology(struct nodes *nodes, const struct topology *topology);

/* How fast it is; at first 1. -1: no memory. */
int nodes_set_speed(struct nodes *nodes, int node, double speed);

/* Of the slowest of them. */
double nodes_slowest(const struct nodes *nodes, const int *list, int count);

/*
 * `count` idle ones, ascending, for a job that has these `held` already. There must be that many. Without a topology:
 * the shortest run of neighbours that has them, the first of several; if there is none the lowest numbers. With one, of
 * a job that starts: below the lowest switch that has them, of several the one that has the fewest; there below as few
 * leaf switches as can be found by the same rule. A job that grows gets those below its own leaf switches first, then
 * those below the lowest switch that all its nodes are below and that has them. Before all that those that make the
 * job as fast as it can be, and none that are faster where enough others are.
 */
void nodes_choose(struct nodes *nodes, const int *list, int held, int count, int *chosen);

/* As nodes_choose, for a job that moves below the fewest leaf switches that can have all its nodes, the first one of
 * which stays: those that it lacks there, at most `count`, are chosen; NULL: none is. How many it lacks; 0: it is below
 * no more now. *leaves: how many they are. */
int nodes_gather(struct nodes *nodes, const int *list, int held, int count, int *chosen, int *leaves);

/* Which `count` of a job's nodes are to leave stands last then, and the others keep their order: its slowest, if it is
 * faster without; then without a topology the last ones, with one those that empty switches with few of the job's
 * nodes. The first stays. */
void nodes_leave(const struct nodes *nodes, int *list, int held, int count);

/* An idle one becomes a job's; a job's becomes idle. */
void nodes_take(struct nodes *nodes, const int *list, int count, int64_t job);
void nodes_give(struct nodes *nodes, const int *list, int count);

/* How many idle ones may be taken so that all together draw no more than `cap` watts (0: none is set), whichever they
 * are. */
int nodes_under_cap(const struct nodes *nodes, double cap);
/* How many could be busy if none were. */
int nodes_most_under_cap(const struct nodes *nodes, double cap);

/* One that no job holds. */
void nodes_set_up(struct nodes *nodes, int node, int up);

#endif
