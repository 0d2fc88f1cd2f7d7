/* How long each thread has been in MPI: while it is watched, the wrappers are not idle. */
#ifndef EPOP_STOPWATCH_H
#define EPOP_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/interpose.h"

/* Any one thread, at any moment. A call that is under way then counts, or does not. */
void stopwatch_watch(bool on);

/* Of the calling thread, in ticks (runtime/base/ticks.h). */
int64_t stopwatch_ticks(void);

/*
 * While it is watched, the calling thread's calls are told as they begin: when, in ticks, and how long it has been in
 * MPI by then. NULL: they are not. The thread itself.
 */
void stopwatch_follow(void (*called)(enum interpose_function function, int64_t now, int64_t in_mpi));

#endif
