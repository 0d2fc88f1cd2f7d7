/*
 * Where rank 0 is. Its process is asked when a request needs to know it, for the status or for the size rule of the
 * phase, and the request waits for the answer. A control thread answers at once, whatever the program does. How far the
 * program is can only be told by its own thread, at the next probe: a status waits a moment for that.
 */
#ifndef EPOP_COORDINATOR_POSITION_H
#define EPOP_COORDINATOR_POSITION_H

#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct event;

struct position_inquiry {
    struct position at; /* of rank 0, when it was asked last; pc -1: in no element */
    struct {
        struct event *first, *last;
    } waiting; /* the requests that need its answer, in their order */
    void (*go_on)(struct coordinator *c, struct event *event);
    struct timer limit;
    bool awaited, progress_awaited; /* answers that it owes */
};

/* go_on: what becomes of those that waited. */
void position_init(struct coordinator *c, void (*go_on)(struct coordinator *c, struct event *event));
/* Has the event wait until the position is known, and the progress, where that is wanted. Takes the event. */
void position_wait(struct coordinator *c, struct event *event, bool progress);
void position_came(struct coordinator *c, int process, const struct report_position *report);
/* Or will not come, as the ranks stand still: who asks from now on is to hear of this place. */
void position_progress_came(struct coordinator *c);

#endif
