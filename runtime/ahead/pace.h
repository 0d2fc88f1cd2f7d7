/*
 * The pace of a thread that works beside a program for some time: a whole core where nobody else wants one. Else all
 * such threads of a host take a tenth of its cores together, and more only where they would be late otherwise.
 */
#ifndef EPOP_AHEAD_PACE_H
#define EPOP_AHEAD_PACE_H

#include <stdint.h>

struct pace {
    double rest;              /* of the work, while the core is wanted */
    int64_t until;            /* it should be through, CLOCK_MONOTONIC, ns */
    int64_t began, looked_at; /* the thread's time then, ns */
    int64_t worked;           /* since the last rest, ns of the thread's time */
    long preemptions;
};

/* So many such threads share so many cores: how long one rests after work, in times of that. */
double pace_share(int threads, int cores);

/* The same where it would be late with that rest: worked so long for `done` of all (0 to 1), and `left` is the time
 * left, both in ns. */
double pace_in_time(double rest, int64_t worked, double done, int64_t left);

/* On the thread itself. */
void pace_begin(struct pace *pace, double rest, int64_t until);

/* To be called again and again, at least each millisecond of work, with how much is done (0 to 1). For how long the
 * thread is to rest now: ns, or 0. */
int64_t pace_rest(struct pace *pace, double done);

#endif
