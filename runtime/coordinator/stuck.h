/*
 * Some ranks hold at a target, and all others wait for them in MPI: they do not probe equally often, and none would
 * ever go on. If it may be that the joining processes are counted wrongly (settle.h), that is put right, once; else
 * what the ranks were to come together for is called off, and the job goes on.
 */
#ifndef EPOP_COORDINATOR_STUCK_H
#define EPOP_COORDINATOR_STUCK_H

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;

struct stuck {
    struct timer look; /* set while ranks hold and others are missed */
    int round;         /* of questions */
};

void stuck_init(struct coordinator *c);
/* Begins to look, if there is reason to. */
void stuck_advance(struct coordinator *c);
/* From a rank. */
void stuck_answer(struct coordinator *c, int process, const struct report_waits *report);

#endif
