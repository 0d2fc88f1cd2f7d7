/*
 * The life of one adaptation, in the order in which the file has it: requested; prepared, while the ranks go on (the
 * joining processes start, constant data moves, and where the backend can do that all are connected); decided by an
 * agreement; a window, in which the ranks and the joining processes move the data; committed. Or called off on the way.
 * One at a time is pending.
 */
#ifndef EPOP_COORDINATOR_ADAPTATION_H
#define EPOP_COORDINATOR_ADAPTATION_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/timers.h"
#include "runtime/coordinator/record.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct adaptation;
struct coordinator;

#define ADAPTATION_HISTORY 64

struct adaptations {
    struct adaptation *pending; /* or NULL */
    struct adaptation history[ADAPTATION_HISTORY];
    int count;      /* so far */
    bool committed; /* since adaptation_take_committed */
    cJSON *data;    /* what rank 0 describes, as it has said; owned; NULL: nothing */
    struct timer prepare_limit, connect_limit;
    struct timer interval; /* set: the next one would come too soon after the last */
};

/* Can another one be pending? If not: why. */
bool adaptation_may_begin(const struct coordinator *c, struct error *why);
/* NULL: out of memory. */
struct adaptation *adaptation_new(struct coordinator *c, enum requester by, int to, int requested);
/* Takes it. 0, or -1 with the reason. */
int adaptation_prepare(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error);

/* The pending one, or NULL; and is there one in that state? */
struct adaptation *adaptation_pending(const struct coordinator *c);
bool adaptation_is(const struct coordinator *c, enum adaptation_state state);
/* Does a phase wait for it that does not accept the present size? */
bool adaptation_is_for_phase(const struct coordinator *c);
/* May the next agreement be about it? */
bool adaptation_is_due(const struct coordinator *c);

/* Are the joiners ready, so that it can be accepted? And it is: what was held until then goes on. */
bool adaptation_is_ready(const struct coordinator *c);
void adaptation_accepted(struct coordinator *c);
/* Besides those ranks leave, which is not connected yet. 0, or -1 with text. */
int adaptation_leave(struct coordinator *c, const struct ints *ranks, struct error *why);
/* Are they the ones that leave? */
bool adaptation_is_of(const struct coordinator *c, const struct ints *ranks);

/* What its ranks have to compute is known. */
void adaptation_measured(struct coordinator *c);

/* If joiners are waited for, and all are in standby by now. */
void adaptation_start_joiners(struct coordinator *c);
/* A joiner waits for those of other launches. */
void adaptation_meet(struct coordinator *c, int process, const struct report_meet *report);
void adaptation_ready(struct coordinator *c, int process, const struct report_ready *report);
/* Its joiners could not be started, which a rank that was to do it says. */
void adaptation_unstarted(struct coordinator *c, int process, const struct report_unstarted *report);

/* What rank 0 describes; and the answer to a joiner that asks, the caller's. */
void adaptation_describes(struct coordinator *c, int process, const struct report_describes *report);
cJSON *adaptation_described(const struct coordinator *c);

/* Off, where it can still be: to its requester and those who watch with the reason. */
void adaptation_drop(struct coordinator *c, enum adaptation_state state, const char *code, const char *reason);
void adaptation_fail(struct coordinator *c, const char *reason);

/* All ranks hold at that place, with that count of probes: the window opens. */
void adaptation_window(struct coordinator *c, const struct position *at, uint64_t count);
void adaptation_connected(struct coordinator *c, int process, const struct report_connected *report);
/* The joining processes are ended, while the old ranks connect to them. */
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
/* To the request that has made the pending one: at once, when it has happened, or when those that left have ended. */
void adaptation_answer(struct coordinator *c, void *handle, bool wait, bool vacated);
/* To a request that could not make one; those who watch hear of it. */
void adaptation_refuse(struct coordinator *c, void *handle, const char *why);

/* ---- Constant data ahead of the window ----------------------------------------------------------- */

/*
 * When the joining processes are ready, each rank lists at its next probe what does not change while its phase
 * iterates, and the processes move that while the ranks compute. An adaptation can always do without: whatever goes
 * wrong, all is moved in the window. Nor is a resize put off for long: what has not come in time comes in the window,
 * while the ranks wait for it.
 */

enum ahead_state { AHEAD_NONE, AHEAD_LISTS, AHEAD_MOVES, AHEAD_DONE, AHEAD_IN_WINDOW };

struct ahead {
    enum ahead_state state;
    struct adaptation *adaptation; /* the pending one that it is a step of */
    int waits;                     /* processes that have not answered */
    cJSON *places;                 /* where each listens, in the order of the plan; owned */
    struct position at;            /* where the ranks have listed */
    char hash[20];                 /* of what they have listed; "": none has */
    bool something, differ;        /* a rank has something constant; they listed at different places, or other things */
    bool late;                     /* the adaptation has gone on; what comes still counts */
    struct timer limit;            /* until then */
};

/* A process has listed, or says where it listens. */
void ahead_listed(struct coordinator *c, int process, const struct report_listed *report);
/* All of it has come there, or it cannot come, or what came is of no use any more. */
void ahead_came(struct coordinator *c, int process, const struct report_ahead *report);
/* A rank has ended the program, and lists nothing more. */
void ahead_rank_ended(struct coordinator *c);
/* The adaptation is called off; it is over. */
void ahead_off(struct coordinator *c);

/* ---- Connecting ahead of the window -------------------------------------------------------------- */

/* The ranks and the joining processes are connected before the ranks stand still, where the backend can do that beside
 * the program. */

struct preconnect {
    bool off; /* it failed in this world, and is not tried again in it */
    struct timer limit;
};

/* Connections are being made. */
bool preconnect_goes_on(const struct coordinator *c);
void preconnect_linked(struct coordinator *c, int process, const struct report_linked *report);

#endif
