/*
 * A clock for measuring short times: the processor's counter, if the kernel keeps its own time by it (then it runs
 * alike on all cores), which takes half as long to read as clock_gettime; otherwise clock_gettime.
 */
#ifndef EPOP_BASE_TICKS_H
#define EPOP_BASE_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

extern bool ticks_are_cycles;

/* Before the first reading. Again: nothing happens. */
void ticks_start(void);

/* What a tick is by now, in seconds: the longer after the start, the more exact. */
double ticks_seconds(void);

static inline int64_t ticks(void)
{
#if defined __x86_64__
    if (ticks_are_cycles)
        return (int64_t)__rdtsc();
#endif
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * The monotonic clock (monotonic_ns) by ticks, for one thread, which sets it to zero first: what it tells never goes
 * back. It looks at the true one every millisecond, or sooner, as a tick's length is known better with time.
 */
struct tick_clock {
    int64_t ticks, ns; /* at the last look */
    uint64_t rate;     /* nanoseconds of a tick, times 2^32 */
    uint64_t until;    /* so many ticks later it looks again */
};

/* For tick_clock_ns. */
int64_t tick_clock_look(struct tick_clock *clock);

static inline int64_t tick_clock_later(const struct tick_clock *clock, uint64_t ticks)
{
    return clock->ns + (int64_t)(ticks * clock->rate >> 32);
}

static inline int64_t tick_clock_ns(struct tick_clock *clock)
{
    if (!ticks_are_cycles)
        return ticks();
    uint64_t since = (uint64_t)(ticks() - clock->ticks);
    return __builtin_expect(since < clock->until, 1) ? tick_clock_later(clock, since) : tick_clock_look(clock);
}

#endif
