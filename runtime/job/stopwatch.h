/* How long each thread has been in MPI: while it is watched, the wrappers are not idle. */
#ifndef EPOP_STOPWATCH_H
#define EPOP_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Any one thread, at any moment. A call that is under way then counts, or does not. */
void stopwatch_watch(bool on);

/* Of the calling thread, in ticks (runtime/base/ticks.h). */
int64_t stopwatch_ticks(void);

#endif
