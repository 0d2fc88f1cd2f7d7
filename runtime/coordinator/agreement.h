/*
 * Bringing all ranks to one probe: freeze, target, gate. The coordinator asks every rank's control thread to stop
 * counting up and to say how many probes the rank has passed; the highest answer plus one is the target, which no
 * rank has passed yet. Where iterations are shorter than that takes, the ranks are not stopped meanwhile: they may go
 * on up to a probe that is likely to be ahead of all of them, and it is the target then. There every rank says where in
 * the program it is, and waits for the decision: stop, save, pause, adapt or go on. A pause is a gate that stays shut.
 */
#ifndef EPOP_COORDINATOR_AGREEMENT_H
#define EPOP_COORDINATOR_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/timers.h"
#include "runtime/member/plan.h"
#include "runtime/wire/messages.h"

struct coordinator;

/* ---- Pause --------------------------------------------------------------------------------------- */

/*
 * That epopctl wants the ranks to hold, and how far that is. It is decided at a probe on which they agree.
 */

struct pause {
    bool asked, on; /* asked stays while it is on */
    int times;      /* that it was over, or withdrawn */
    void *handle;   /* who waits for it; NULL: nobody */
    double since;   /* monotonic */
};

/* Does it want the ranks to come together? */
bool pause_is_wanted(const struct coordinator *c);

void pause_ask(struct coordinator *c, void *handle);
/* The ranks go on, or do not come together: whoever waits hears why. */
void pause_end(struct coordinator *c, const char *code, const char *reason);

enum agreement_state { AGREEMENT_NONE, AGREEMENT_FREEZING, AGREEMENT_TARGET, AGREEMENT_GATE };

struct agreement {
    enum agreement_state state;
    int round;
    uint64_t target;
    uint64_t up_to;   /* where the ranks may hold before they know the target; 0: at the next probe */
    double asked;     /* when they were asked, monotonic */
    double took;      /* in the last round: seconds for all to answer; 0: there was none */
    uint64_t lead;    /* and by how many probes the first of them was ahead of rank 0 */
    int awaited;      /* a rank that had not answered, or arrived, at the last look: with thousands the next look begins
                         there */
    int pinged;       /* the round in which the joiners were asked for a sign of life */
    int pinged_times; /* and the pauses until then: an answer from before one says nothing */
    bool check_later; /* the arrivals at a target, when nobody connects any more */
    struct timer freeze_limit;
    struct timer ping_limit; /* set: joiners may still answer */
};

/* Begins one if there is a reason, or decides at the gate, as far as that is possible by now. */
void agreement_advance(struct coordinator *c);
/* Is there a reason for one, which has to wait until it is settled how the joining processes count (settle.h)? */
bool agreement_waits(const struct coordinator *c);
/* Not all ranks come to the target: what they were to come for is off, and those that have come go on. */
void agreement_give_up(struct coordinator *c, const char *reason);
/* The ranks do not come to the same probe: what they were to come for is off, and whoever asked hears why. */
void agreement_call_off(struct coordinator *c, const char *reason);
/* To another target: the ranks count differently now. */
void agreement_again(struct coordinator *c);
/* From a rank: */
/* A joiner that was asked for a sign of life has given it. */
void agreement_pong(struct coordinator *c, int process);
void agreement_count(struct coordinator *c, int process, const struct report_count *report);
void agreement_arrived(struct coordinator *c, int process, const struct report_arrived *report);
void agreement_ended(struct coordinator *c, int process);

#endif
