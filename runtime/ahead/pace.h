/*
 * How much of a core a thread takes that works beside the program: all of one that nobody else wants, else a tenth,
 * by resting in between. It has the priority of the program's threads: with less, it would hardly run at all beside
 * ranks that spin.
 */
#ifndef EPOP_AHEAD_PACE_H
#define EPOP_AHEAD_PACE_H

#include <stdint.h>

struct pace {
    int64_t looked_at; /* the thread's time then, ns */
    int64_t worked;    /* since the last rest, ns of the thread's time */
    long preemptions;
};

/* On the thread itself. */
void pace_begin(struct pace *pace);

/* To be called again and again, at least each millisecond of work. For how long the thread is to rest now: ns, or 0. */
int64_t pace_rest(struct pace *pace);

#endif
