/* What the guard does, in its own process: see guard.h. */
#ifndef SCHEDULER_ATTEND_GUARDING_H
#define SCHEDULER_ATTEND_GUARDING_H

#include "scheduler/attend/launch.h"

/* Words to it. The end of the connection: the attendant has died. */
enum { GUARDING_GO = 'g', GUARDING_TERMINATE = 't', GUARDING_KILL = 'k' };

/* Its whole life; its exit status. */
int guarding(const struct launch *launch, const char *directory, int attendant);

#endif
