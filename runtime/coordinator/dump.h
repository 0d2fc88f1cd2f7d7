/*
 * A process that crashed dumps its memory, which the job waits for, though not for ever. While rank 0's process does so
 * nobody can tell the others anything, and then they lose it: so it waits until they have heard that the job ends.
 */
#ifndef EPOP_COORDINATOR_DUMP_H
#define EPOP_COORDINATOR_DUMP_H

#include <stdbool.h>

#include "runtime/base/timers.h"

struct coordinator;

struct dump {
    int process; /* that dumps; -1: none */
    bool begun;  /* it has been told to */
    struct timer limit;
};

void dump_init(struct coordinator *c);
void dump_begin(struct coordinator *c, int process);
bool dump_is_on(const struct coordinator *c);
bool dump_is_of(const struct coordinator *c, int process);
/* That process has heard what was sent to it before the ping. */
void dump_pong(struct coordinator *c, int process);
/* Lets it, once all others have heard. */
void dump_advance(struct coordinator *c);

#endif
