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

#endif
