/*
 * Time: the clocks of this process, and lengths of time as people write them. What has happened is told by the wall
 * clock; what is waited for goes by the monotonic one.
 */
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

/* ---- As people write them ----------------------------------------------------------------------- */

/* As strtod, of decimal numbers alone: neither 0x10 nor inf nor nan is one, nor what begins with a blank. */
double decimal_read(const char *text, char **end);

/* Of "30", "30s", "10m", "1.5h" or "7d". 0, or -1: that is no length of time, or negative. */
int duration_read(const char *text, double *seconds);

#endif
