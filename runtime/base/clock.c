/* The clocks of this process: see clock.h. */
#include "runtime/base/clock.h"

#define SECOND 1000000000

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

int64_t monotonic_ns(void)
{
    return nanoseconds(CLOCK_MONOTONIC);
}

double monotonic_seconds(void)
{
    return (double)monotonic_ns() * 1e-9;
}

double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct timespec clock_in(clockid_t clock, double seconds)
{
    const double longest = 1e9; /* 30 years: beyond that the sum would not fit */
    double wait = seconds < 0 ? 0 : seconds < longest ? seconds : longest;
    int64_t at = nanoseconds(clock) + (int64_t)(wait * SECOND);
    return (struct timespec){.tv_sec = at / SECOND, .tv_nsec = at % SECOND};
}
