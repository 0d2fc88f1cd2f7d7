/*
 * Processes that left, until they have ended: a node whose processes have not ended is not free. For those who wait for
 * that, and for the event that says that nothing of the job is on a host any more.
 */
#ifndef EPOP_COORDINATOR_DEPARTURES_H
#define EPOP_COORDINATOR_DEPARTURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/timers.h"
#include "runtime/coordinator/replies.h"

struct coordinator;
struct departure;

struct departures {
    struct departure *first; /* owned */
    struct timer look;
};

/* These processes are no ranks any more, or will not be. The waiters are answered with the reply, and whether all of
 * them have ended. Takes all three; processes may be NULL: out of memory, or none. */
void departures_begin(struct coordinator *c, int *processes, int count, struct waiter *waiters, cJSON *reply);

/* It does not come back into the world, and ends when it is out of it; now, if it stands by. */
void departures_dismiss(struct coordinator *c, int process);
/* It stands by from here on. */
void departures_parked(struct coordinator *c, int process);

/* Its connection is closed. */
void departures_closed(struct coordinator *c, int process);

/* After that: processes that have not gone; ranks: of those that were ranks. */
int departures_missed(const struct coordinator *c, bool ranks);
/* The first of them in words, and how many more; empty if there are none. */
void departures_describe_missed(const struct coordinator *c, char *text, size_t size);

#endif
