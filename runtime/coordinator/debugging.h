/*
 * What the debug driver needs of the coordinator. Roll calls: all ranks claim what they are about to do, and pass
 * when the claims agree (runtime/member/claim.h); those of a host find that out themselves (runtime/member/muster.h),
 * and all of them come here only where they do not agree, or may be stopped. Breaks and steps: a roll call that nobody
 * passes until the user goes on. And, with any driver, a process that crashed and dumps its memory before the job ends.
 */
#ifndef EPOP_COORDINATOR_DEBUGGING_H
#define EPOP_COORDINATOR_DEBUGGING_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/member/claim.h"
#include "runtime/member/muster.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct process;

/* ---- Stopping and going on ----------------------------------------------------------------------- */

/* A break, and the visit of its element in which the ranks stopped there last. */
struct stop_place {
    struct breakpoint breakpoint;
    int64_t met; /* 0: none yet */
};

struct halts {
    struct stop_place places[ROLLCALL_BREAKS_MAX];
    int count;
    bool stepping; /* the ranks stop at the next iteration */
    enum { NOT_STOPPED, STOPPED_ALL, STOPPED_SOME } how;
    struct position at; /* of the last stop */
    bool announced;
    char by[96];  /* the break's text, or "step" */
    void *waiter; /* who waits for the next stop; NULL: nobody */
};

/* Are any stopped now? */
bool halts_are_on(const struct coordinator *c);
/* No stop will be reached any more: whoever waits hears why. */
void halts_end(struct coordinator *c, const char *reason);
/* The breaks that are set, for the status. */
cJSON *halts_json(const struct coordinator *c);

/* ---- Requests ------------------------------------------------------------------------------------ */

/* The requests break, step and continue. */

void breaks_set(struct coordinator *c, void *handle, const struct request_break *request);
void breaks_step(struct coordinator *c, void *handle);
void breaks_continue(struct coordinator *c, void *handle);

/* ---- Roll calls ---------------------------------------------------------------------------------- */

/* The coordinator's side of the roll calls (runtime/member/claim.h), with the debug driver. */

/* The memory of the present world's ranks on each host. Every stage begins for all ranks when they have claimed the
 * same, so that each enters it at the same claim. */
struct world_muster {
    enum muster_stage {
        MUSTER_NONE,
        MUSTER_ASKED, /* the first rank of each host makes it */
        MUSTER_SHOWN, /* the others map it */
        MUSTER_BEGUN /* they compare there; here come claims that are to be told, and with several hosts one for each */
    } stage;
    char mark[MUSTER_MARK + 1];
};

struct rollcall {
    bool apart;         /* the ranks are known to go different ways, and are not compared any more */
    bool differs, late; /* a difference has shown while claims are missing; and these have had their time */
    struct timer grace;
    struct world_muster muster;
};

/* A rank's claim has come in. */
void rollcall_claim(struct coordinator *c, int process, const struct report_claim *report);
/* A rank breaks the contract all by itself: says its text. */
void rollcall_breach(struct coordinator *c, int process, const struct report_breach *report);
/* Goes on as far as the claims allow: after a window, and when the ranks go on after a stop. */
void rollcall_check(struct coordinator *c);

/* ---- A process that dumps its memory ------------------------------------------------------------- */

/*
 * A process that crashed dumps its memory, which the job waits for, though not for ever. While rank 0's process does
 * so nobody can tell the others anything, and then they lose it: so it waits until they have heard that the job ends.
 */

struct dump {
    int process; /* that dumps; -1: none */
    bool begun;  /* it has been told to */
    struct timer limit;
};

void dump_begin(struct coordinator *c, int process);
bool dump_is_on(const struct coordinator *c);
bool dump_is_of(const struct coordinator *c, int process);
/* That process has heard what was sent to it before the ping. */
void dump_pong(struct coordinator *c, int process);

#endif
