/* The coordinator's side of the roll calls (runtime/rollcall.h), with the debug driver. */
#ifndef EPOP_COORDINATOR_ROLLCALL_H
#define EPOP_COORDINATOR_ROLLCALL_H

#include "runtime/coordinator/state.h"

/* A rank's claim has come in. */
void rollcall_here(struct coordinator *c, int process, const cJSON *message);
/* A rank that breaks the contract all by itself: one line of text. */
void rollcall_breach(struct coordinator *c, const char *text);
/* Goes on as far as the claims allow: after a window, and when something is due. */
void rollcall_check(struct coordinator *c);
/* When that is, in monotonic seconds. */
double rollcall_deadline(const struct coordinator *c);
/* The process is no rank any more. */
void rollcall_forget(struct process *p);

#endif
