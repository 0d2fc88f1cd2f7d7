/* The machine: who holds each node, and which are chosen next. */
#ifndef SCHEDULER_CORE_NODES_H
#define SCHEDULER_CORE_NODES_H

#include <epop/policy.h>
#include <stdint.h>

struct nodes {
    epop_policy_node_t *items;
    uint64_t *free; /* a bit for each that is idle */
    int count, idle, down;
};

/* All idle. -1: no memory. */
int nodes_init(struct nodes *nodes, int count);
void nodes_free(struct nodes *nodes);

/* `count` idle ones, ascending: the shortest run of neighbours that has them, the first of several; if there is none
 * the lowest numbers. There must be that many. */
void nodes_choose(const struct nodes *nodes, int count, int *chosen);

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
