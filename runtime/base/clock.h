/* The clocks of this process: what has happened is told by the wall clock, what is waited for by the monotonic one. */
#ifndef EPOP_BASE_CLOCK_H
#define EPOP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

double monotonic_seconds(void);
int64_t monotonic_ns(void);

/* Since 1970. */
double wall_seconds(void);

/* The moment `seconds` from now by that clock, as functions with a deadline want it. Negative: now. */
struct timespec clock_in(clockid_t clock, double seconds);

#endif
