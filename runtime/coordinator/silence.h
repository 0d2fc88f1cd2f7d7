/*
 * Processes that are waited for and do not answer: they are stopped, or their host is gone. How long a rank computes
 * before it comes is its own affair: its control thread answers meanwhile. So whoever is waited for is asked for a sign
 * of life every now and then, and what waits for one that gives none is called off as long as that can be; after that
 * those who asked hear of it, and the job ends if it was told to.
 */
#ifndef EPOP_COORDINATOR_SILENCE_H
#define EPOP_COORDINATOR_SILENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/timers.h"

struct coordinator;
struct process;

struct silence {
    struct timer question; /* when they are asked next; set as long as anybody is waited for */
    bool said;             /* that one does not answer */
};

void silence_init(struct coordinator *c);
/* Seconds without an answer after which a process counts as silent: fewer when the job was told to stop. */
double silence_limit(const struct coordinator *c);
/* Begins to ask, if somebody is waited for by now. */
void silence_advance(struct coordinator *c);
/* Something has come from it. */
void silence_heard(struct process *p);
/* Who is waited for, and does not answer; false: nobody. */
bool silence_describe(const struct coordinator *c, char *text, size_t size);

#endif
