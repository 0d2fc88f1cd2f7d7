/*
 * What every part of the coordinator is to its thread: calls that it makes of all parts in turn, so that a part's
 * life stands in its own file. Each may be missing. Their order is that of the table in coordinator.c.
 */
#ifndef EPOP_COORDINATOR_PART_H
#define EPOP_COORDINATOR_PART_H

#include <stdbool.h>

struct coordinator;

struct part {
    void (*init)(struct coordinator *c);
    /* All that has arrived is taken, and all timers that are due have rung. False: the parts behind it wait, as do the
     * next agreement and the end. */
    bool (*advance)(struct coordinator *c);
    /* An adaptation was committed. */
    void (*new_world)(struct coordinator *c);
    /* Who asked by this handle has gone: nobody waits for its answer any more. */
    void (*abandoned)(struct coordinator *c, const void *handle);
    /* The program has ended on every rank: what is still wanted will not be, for the reason given. */
    void (*end)(struct coordinator *c, const char *reason);
    void (*destroy)(struct coordinator *c);
};

extern const struct part adaptation_part, agreement_part, balance_part, checkpoint_part, debugging_part,
    departures_part, inquiries_part, liveness_part, measure_part, position_part, progress_part, releases_part,
    resize_part, sets_part, stop_part, survey_part;

#endif
