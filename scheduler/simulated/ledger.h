/*
 * Who holds which node, kept by the simulator for itself: what the core and the policy believe is held against it. A
 * change that cannot be is refused with a line, and nothing has changed.
 */
#ifndef SCHEDULER_SIMULATED_LEDGER_H
#define SCHEDULER_SIMULATED_LEDGER_H

#include <stdint.h>

#include "runtime/base/error.h"

enum { LEDGER_IDLE = -1, LEDGER_DOWN = -2 };

struct ledger {
    int64_t *holders; /* of each node: the job's id, or one of the above */
    int nodes;
    int idle, held, down;
};

int ledger_init(struct ledger *ledger, int nodes, struct error *error);
void ledger_free(struct ledger *ledger);

/* A job's, from now on. nodes: ascending, idle. */
int ledger_take(struct ledger *ledger, int64_t job, const int *nodes, int count, struct error *error);

/* Idle again. nodes: ascending, of this job. */
int ledger_give(struct ledger *ledger, int64_t job, const int *nodes, int count, struct error *error);

/* An idle node goes down; one that is down is idle again. */
void ledger_fail(struct ledger *ledger, int node);
void ledger_return(struct ledger *ledger, int node);

/* Counts all anew: idle, held and down are what the counters say, and all nodes there are. */
int ledger_count(const struct ledger *ledger, struct error *error);

#endif
