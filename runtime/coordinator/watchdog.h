/*
 * The watchdog: when no rank has come to its next iteration for so long, it says where all of them are, once, and again
 * when they go on. What has a time limit of its own, or waits for a user, is no stall.
 */
#ifndef EPOP_COORDINATOR_WATCHDOG_H
#define EPOP_COORDINATOR_WATCHDOG_H

#include <stdbool.h>

#include "runtime/base/timers.h"

struct coordinator;

struct watchdog {
    struct timer look;
    double moved; /* when something was last seen to move, monotonic; 0: never */
    int world_id; /* then */
    bool stalled; /* and that was said */
};

/* It looks by itself from then on, where the job has one, by surveys (survey.h). */
void watchdog_init(struct coordinator *c);

#endif
