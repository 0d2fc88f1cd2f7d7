/*
 * How long a program has still to go, by the iterations that it reports. The rate is that since the last resize; in
 * front of it stands the rate before, scaled by the number of ranks, as if it had been seen for two iterations, so that
 * there is an estimate at once and a good one soon. No clock in here: the time is handed in.
 */
#ifndef EPOP_ESTIMATE_H
#define EPOP_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known yet. */
struct estimate {
    bool begun;
    int size; /* ranks */
    int64_t bound;
    double begin;            /* of the present rate, seconds */
    int64_t begin_iteration; /* likewise */
    double last;             /* when the iteration was last seen to be another one */
    int64_t iteration;
    double prior; /* iterations per second before; 0: none */
};

/* What was reported at that time. Another bound, or a smaller iteration, is another phase, of which nothing is known.
 */
void estimate_add(struct estimate *e, double now, int64_t iteration, int64_t bound, int size);

/* The program stood still for so long up to now: that is not its rate. */
void estimate_skip(struct estimate *e, double seconds);

/* Iterations per second; 0: not known yet. */
double estimate_rate(const struct estimate *e);

/* Seconds from now; negative: not known. */
double estimate_left(const struct estimate *e, double now);

#endif
