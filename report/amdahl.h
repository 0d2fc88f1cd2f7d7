/*
 * Amdahl's law by least squares: T(n) = s + p / n, from the times at several world sizes. Where the line would need a
 * negative part, that part is 0 and the other one fits best alone.
 */
#ifndef EPOP_REPORT_AMDAHL_H
#define EPOP_REPORT_AMDAHL_H

#include <stddef.h>

struct amdahl_point {
    int size;    /* ranks, at least 1; no size twice */
    double time; /* of the same work at that size, more than 0, in any unit */
};

enum amdahl_kind {
    AMDAHL_NONE,        /* less than two sizes */
    AMDAHL_EXACT,       /* two sizes: through both */
    AMDAHL_FITTED,      /* more than two */
    AMDAHL_SUPERLINEAR, /* s would be negative: faster than in proportion to the ranks */
    AMDAHL_FLAT,        /* p would be negative: no faster with more ranks */
};

struct amdahl {
    enum amdahl_kind kind;
    double serial, parallel; /* s and p, in the unit of the times */
    double fraction;         /* s / (s + p): of the time on one rank */
    double deviation;        /* the largest |T(n) - time| / time */
};

void amdahl_fit(const struct amdahl_point *points, size_t count, struct amdahl *fit);
double amdahl_time(const struct amdahl *fit, int size);
/* How good the fit of so many points is, in words; part of a sentence. */
void amdahl_verdict(const struct amdahl *fit, size_t count, char *text, size_t text_size);

#endif
