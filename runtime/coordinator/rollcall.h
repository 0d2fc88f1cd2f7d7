/* The coordinator's side of the roll calls (runtime/member/claim.h), with the debug driver. */
#ifndef EPOP_COORDINATOR_ROLLCALL_H
#define EPOP_COORDINATOR_ROLLCALL_H

#include <stdbool.h>

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;

struct rollcall {
    bool apart;         /* the ranks are known to go different ways, and are not compared any more */
    bool differs, late; /* a difference has shown while claims are missing; and these have had their time */
    struct timer grace;
};

void rollcall_init(struct coordinator *c);
/* A rank's claim has come in. */
void rollcall_claim(struct coordinator *c, int process, const struct report_claim *report);
/* A rank breaks the contract all by itself: says its text. */
void rollcall_breach(struct coordinator *c, int process, const struct report_breach *report);
/* Goes on as far as the claims allow: after a window, and when the ranks go on after a stop. */
void rollcall_check(struct coordinator *c);

#endif
