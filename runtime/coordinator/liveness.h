/*
 * Whether those who are waited for still come. Losses: a process died, or its connection broke. Silence: a process
 * that is stopped, or whose host is gone, does not answer its control thread's questions. Stuck: ranks that wait in MPI
 * for others that hold at a target. The watchdog: ranks that come to no further iteration. The first three call off
 * what waits for them, as long as that can be, or end the job; the last speaks.
 */
#ifndef EPOP_COORDINATOR_LIVENESS_H
#define EPOP_COORDINATOR_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/timers.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct process;

/* ---- Processes that are lost --------------------------------------------------------------------- */

/* Its connection to process 0 is gone without a word before: the job does without it, or ends. */
void losses_take(struct coordinator *c, int process);

/* ---- Where the ranks run ------------------------------------------------------------------------- */

/* Who starts the job again after a fault is told beforehand: when a host is lost, process 0 is often ended, too, before
 * it can say which ranks were there. */
struct told_hosts {
    bool is;
    int world_id; /* of that world */
};

/* ---- Processes that do not answer ---------------------------------------------------------------- */

struct silence {
    struct timer question; /* when they are asked next; set as long as anybody is waited for */
    bool said;             /* that one does not answer */
};

/* Seconds without an answer after which a process counts as silent: fewer when the job was told to stop. */
double silence_limit(const struct coordinator *c);
/* Something has come from it. */
void silence_heard(struct process *p);
/* Who is waited for, and does not answer; false: nobody. */
bool silence_describe(const struct coordinator *c, char *text, size_t size);

/* ---- Ranks that wait for each other -------------------------------------------------------------- */

/*
 * Some ranks hold at a target, and all others wait for them in MPI: they do not probe equally often, and none would
 * ever go on. If it may be that the joining processes are counted wrongly (settle.h), that is put right, once; else
 * what the ranks were to come together for is called off, and the job goes on.
 */

struct stuck {
    struct timer look; /* set while ranks hold and others are missed */
    int round;         /* of questions */
};

/* From a rank. */
void stuck_answer(struct coordinator *c, int process, const struct report_waits *report);

/* ---- The watchdog -------------------------------------------------------------------------------- */

/*
 * The watchdog: when no rank has come to its next iteration for so long, it says where all of them are, once, and
 * again when they go on. What has a time limit of its own, or waits for a user, is no stall.
 */

struct watchdog {
    struct timer look;
    double moved; /* when something was last seen to move, monotonic; 0: never */
    int world_id; /* then */
    bool stalled; /* and that was said */
};

#endif
