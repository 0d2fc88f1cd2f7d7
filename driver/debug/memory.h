/* What INIT allocates in a process that joins, and nobody frees when it leaves: a process that comes and goes grows. */
#ifndef DEBUG_MEMORY_H
#define DEBUG_MEMORY_H

#include <stdbool.h>

/* INIT begins, in a process that joins, or not; and has ended. With a line on stderr, once, if the process is as much
 * larger as an earlier INIT has made it. */
void memory_init_begins(bool joining);
void memory_init_ends(void);

#endif
