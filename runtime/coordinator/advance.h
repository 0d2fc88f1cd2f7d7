/*
 * What the coordinator decides when all that has arrived is taken and all timers that are due have rung: the next
 * agreement, a decision, and the end, once every rank has come to it.
 */
#ifndef EPOP_COORDINATOR_ADVANCE_H
#define EPOP_COORDINATOR_ADVANCE_H

#include <stdbool.h>

#include "runtime/base/timers.h"

struct coordinator;

struct ending {
    bool begun;         /* all ranks have ended */
    struct timer limit; /* for called off processes that do not come; set: they may still */
    bool finished;      /* every process was told of the end */
};

void advance_init(struct coordinator *c);
/* After each event: what a new world changes for those that waited for it. */
void advance_world(struct coordinator *c);
void advance(struct coordinator *c);

#endif
