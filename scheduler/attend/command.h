/* Starting the job's command. */
#ifndef SCHEDULER_ATTEND_COMMAND_H
#define SCHEDULER_ATTEND_COMMAND_H

#include <sys/types.h>

#include "scheduler/attend/launch.h"

/* In a process group of its own; it is sent SIGTERM when this process dies. -1: the stage (guard.h) and errno say what
 * could not be done. */
int command_start(const struct launch *launch, pid_t *pid, int *stage, int *number);

#endif
