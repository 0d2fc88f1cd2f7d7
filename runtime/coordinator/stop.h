/*
 * That the job is to end because epopctl or a signal wants it. Asked to stop, it ends at a probe on which the ranks
 * agree (agreement.h); whoever asked hears which ranks it waits for, and so does who reads the job's output, as ranks
 * that hang never come. By force it ends at once, with a line that says who wanted that and what the ranks were in.
 */
#ifndef EPOP_COORDINATOR_STOP_H
#define EPOP_COORDINATOR_STOP_H

#include <stdbool.h>

#include "runtime/base/timers.h"

struct coordinator;

struct stop {
    bool asked, sent;
    const char *by; /* static */
    double since;   /* monotonic */
    void *handle;   /* who waits to hear how that goes; NULL: nobody */
    struct timer look;
    bool looks, said;   /* at where the ranks are; on the job's output */
    struct timer taken; /* at those whom a change takes, and who keep their sessions */
    double taken_since; /* that was said, monotonic; 0: it was not */
    bool forced;
    char by_force[128]; /* who wants that */
    struct timer force;
};

/* Does it want the ranks to come together? */
bool stop_is_wanted(const struct coordinator *c);
/* For good. */
void stop_ask(struct coordinator *c, const char *by);
/* Answers when the ranks were told so, or after a second, with whom it waits for. */
void stop_answer(struct coordinator *c, void *handle);
/* The ranks cannot come together; the job goes on. */
void stop_withdraw(struct coordinator *c, const char *reason);
/* The ranks were told so. */
void stop_is_decided(struct coordinator *c);
/* A rank does not come to its end: the job ends now. */
void stop_cannot_be(struct coordinator *c, const char *reason);

/* By force: as soon as the ranks have said where they are, in a second at most. */
void stop_force(struct coordinator *c, void *handle, const char *by);

#endif
