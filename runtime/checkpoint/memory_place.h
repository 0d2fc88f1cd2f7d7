/*
 * The directory in each host's memory that a job under `epop --recover` has for its checkpoints:
 * /dev/shm/epop-UID-KEY-HOST, where HOST is the supervisor's. The supervisor holds a lock in it there, as the job's
 * processes do on every host. A directory that nobody holds is left over: it is removed on the supervisor's host at
 * once, on others when nothing has come into it for an hour, as there is a time between two starts of a job. Knows
 * no MPI. All local.
 */
#ifndef EPOP_CHECKPOINT_MEMORY_PLACE_H
#define EPOP_CHECKPOINT_MEMORY_PLACE_H

#include <stddef.h>

#include "runtime/base/error.h"

#define MEMORY_PLACE "EPOP_MEMORY" /* in the job's environment: its path */

/* A new one's path; it is not made. 0, or -1 with text. */
int memory_place_name(char *path, size_t size, struct error *error);
/* Makes it where it is missing. A descriptor that marks it as in use, or -1 with text. */
int memory_place_hold(const char *path, struct error *error);
void memory_place_remove(const char *path);

/* Removes what jobs of this user have left on this host. */
void memory_place_sweep(void);

#endif
