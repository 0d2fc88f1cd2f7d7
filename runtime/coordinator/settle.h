/*
 * After a commit of an executable: which number the joining processes' first probe has. All processes go on meanwhile
 * and say what they did up to their first probes (runtime/member/stretch.h), until it is settled; no agreement begins
 * before.
 */
#ifndef EPOP_COORDINATOR_SETTLE_H
#define EPOP_COORDINATOR_SETTLE_H

#include <stdbool.h>

#include "runtime/member/stretch.h"
#include "runtime/wire/messages.h"

struct coordinator;
struct process;

struct settling {
    bool open;             /* and nothing can be agreed */
    enum first_probe what; /* of the present world's joining processes; FIND: none joined */
    bool sure;
    int64_t wanted; /* probes that all say what they did up to, joining ones one more */
    int64_t judged; /* and up to which it could be either */
    double begun;
};

/* The world has just been made, with so many joining processes. */
void settle_begin(struct coordinator *c, int joining);
/* From a process. */
void settle_stretch(struct coordinator *c, int process, const struct report_stretch *report);
/* A process has ended, and says nothing any more. */
void settle_look(struct coordinator *c);
bool settle_is_open(const struct coordinator *c);
/* Does it still have to say something? */
bool settle_awaits(const struct coordinator *c, const struct process *p);
/* Ranks hold at a target, and all others wait for them in MPI: is the joining processes' count the reason? Then it is
 * put right: once, and where it was not sure. */
bool settle_correct(struct coordinator *c);

#endif
