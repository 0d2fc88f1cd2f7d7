/* Starting the job's command. */
#ifndef SCHEDULER_ATTEND_COMMAND_H
#define SCHEDULER_ATTEND_COMMAND_H

#include <sys/types.h>

#include "scheduler/attend/launch.h"

/* In a process group of its own; it is sent SIGTERM when this process dies. A descriptor that can be read when it has
 * begun, or could not: a directory, a file may take for ever to open. -1: there is no process, as errno says. */
int command_start(const struct launch *launch, pid_t *pid);

/* Reads and closes that. -1: it has not begun; the stage (guard.h) and errno say what could not be done. */
int command_begun(int report, int *stage, int *number);

#endif
