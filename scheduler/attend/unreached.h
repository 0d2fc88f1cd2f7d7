/*
 * mpiexec does not notice that the command which reaches a host for it (ssh, srun) has failed, and waits for ever: for
 * jobs that have no control plane, or not yet.
 */
#ifndef SCHEDULER_ATTEND_UNREACHED_H
#define SCHEDULER_ATTEND_UNREACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is there an mpiexec right below that process? */
bool unreached_mpiexec(pid_t above);

/* Is there an mpiexec right below that process of which such a command has ended with an error? Then a line says which.
 * Also true for a moment when a job is just ending, so that it should be asked twice. */
bool unreached_seen(pid_t above, char *text, size_t size);

#endif
