/*
 * The life of one adaptation: made, prepared, decided, committed, or dropped on the way. One at a time is pending. With
 * preconnect.h it makes a pair: connecting ahead of the window is a step of preparing.
 */
#ifndef EPOP_COORDINATOR_ADAPTATION_H
#define EPOP_COORDINATOR_ADAPTATION_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/timers.h"
#include "runtime/coordinator/record.h"
#include "runtime/wire/messages.h"

struct coordinator;

#define ADAPTATION_HISTORY 64

struct adaptations {
    struct adaptation *pending; /* or NULL */
    struct adaptation history[ADAPTATION_HISTORY];
    int count;      /* so far */
    bool committed; /* since adaptation_take_committed */
    struct timer prepare_limit, connect_limit;
    struct timer interval; /* set: the next one would come too soon after the last */
};

void adaptation_init(struct coordinator *c);

/* NULL: out of memory. */
struct adaptation *adaptation_new(struct coordinator *c, enum requester by, int to, int requested);
/* Takes it. 0, or -1 with the reason. */
int adaptation_prepare(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error);

/* The pending one, or NULL; that of this number; and is there one in that state? */
struct adaptation *adaptation_pending(const struct coordinator *c);
struct adaptation *adaptation_of(const struct coordinator *c, int id);
bool adaptation_is(const struct coordinator *c, enum adaptation_state state);
bool adaptation_is_for_phase(const struct coordinator *c);
/* May the next agreement be about it? */
bool adaptation_is_due(const struct coordinator *c);

/* Are the joiners started by the ranks, in the window? Do all ranks leave each time? */
bool adaptation_joiners_come_late(const struct coordinator *c);
bool adaptation_replaces_all(const struct coordinator *c);

/* Are the joiners ready, so that it can be accepted? And it is: what was held until then goes on. */
bool adaptation_is_ready(const struct coordinator *c);
void adaptation_accepted(struct coordinator *c);
/* Besides those ranks leave, which is not connected yet. 0, or -1 with text. */
int adaptation_leave(struct coordinator *c, const struct ints *ranks, struct error *why);
/* Are they the ones that leave? */
bool adaptation_is_of(const struct coordinator *c, const struct ints *ranks);

/* If joiners are waited for, and all are in standby by now. */
void adaptation_start_joiners(struct coordinator *c);
/* A joiner waits for those of other launches. */
void adaptation_meet(struct coordinator *c, int process, const struct report_meet *report);
void adaptation_ready(struct coordinator *c, int process, const struct report_ready *report);
/* Its joiners could not be started, which a rank that was to do it says. */
void adaptation_unstarted(struct coordinator *c, int process, const struct report_unstarted *report);
void adaptation_prepared(struct coordinator *c);
/* With the point of the program still open. NULL: out of memory, which ends the job. */
struct plan *adaptation_plan(struct coordinator *c);

/* The limit of connecting has come. Where all answer they are only slow: it is put off, until it was so many seconds,
 * and this true. */
bool adaptation_connects_on(struct coordinator *c, struct timer *limit, double most);

/* Off, where it can still be: to its requester and those who watch with the reason. */
void adaptation_drop(struct coordinator *c, enum adaptation_state state, const char *code, const char *reason);
void adaptation_fail(struct coordinator *c, const char *reason);

void adaptation_window(struct coordinator *c, const struct position *at, uint64_t count);
void adaptation_connected(struct coordinator *c, int process, const struct report_connected *report);
/* While the old ranks connect to them. */
void adaptation_end_joiners(struct coordinator *c);
void adaptation_through(struct coordinator *c, int process, const struct report_committed *report);
void adaptation_gone(struct coordinator *c, int process);
void adaptation_hosts(struct coordinator *c, int process);
void adaptation_parked(struct coordinator *c, int process, const struct report_parked *report);
/* Are all through but those who leave? */
bool adaptation_awaits_leavers(const struct coordinator *c);
/* Completes it without those who leave, if all the others are through: they do not come. False if some are not. */
bool adaptation_without_leavers(struct coordinator *c);
/* Whoever waits for it hears why it does not come; it goes on. */
void adaptation_tell_requester(struct coordinator *c, const char *reason);
/* Has one been committed since this was asked last? */
bool adaptation_take_committed(struct coordinator *c);

/* The phase that rank 0 is at needs that size. What is pending for another is off. */
void adaptation_for_phase(struct coordinator *c, int needs);

/* To the request that waits for it, or that made it. */
cJSON *adaptation_reply(const struct adaptation *a, const char *code);

#endif
