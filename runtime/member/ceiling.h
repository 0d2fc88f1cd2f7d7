/*
 * The probe's fast path: a counter and a limit. As long as nothing is pending, a probe is an increment and a
 * comparison. The control thread lowers the limit to stop the program's thread at a later probe.
 *
 * The two threads form a store/load pair on each side (count then limit; limit then count). The rare side pays
 * for the ordering with a membarrier, so that the probe needs none.
 */
#ifndef EPOP_CEILING_H
#define EPOP_CEILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CEILING_NONE UINT64_MAX

struct ceiling {
    _Atomic uint64_t count; /* probes so far; written by the program's thread alone */
    _Atomic uint64_t limit; /* a probe with this number, or a later one, holds */
    _Atomic int64_t shift;  /* what the count is off by; another thread's */
    bool fence;             /* no membarrier on this kernel: the probe orders itself */
};

void ceiling_init(struct ceiling *ceiling);

/* Counts one probe; true if it has to hold. The program's thread only. */
static inline bool ceiling_probe(struct ceiling *ceiling)
{
    uint64_t count = atomic_load_explicit(&ceiling->count, memory_order_relaxed) + 1;
    atomic_store_explicit(&ceiling->count, count, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (ceiling->fence)
        atomic_thread_fence(memory_order_seq_cst);
    return count >= atomic_load_explicit(&ceiling->limit, memory_order_relaxed);
}

/* The number of the last probe, as the job counts them. */
static inline uint64_t ceiling_count(const struct ceiling *ceiling)
{
    return atomic_load_explicit(&ceiling->count, memory_order_relaxed) +
           (uint64_t)atomic_load_explicit(&ceiling->shift, memory_order_relaxed);
}

/* Sets the limit and returns the count: every probe with a higher number meets the limit. Another thread. */
uint64_t ceiling_lower(struct ceiling *ceiling, uint64_t limit);

#endif
