/*
 * How a process of an executable's job leaves, and what becomes of it then. It is no part of the job any more, but
 * still one of a launch, and Hydra ends a whole launch for one of its processes. So whatever such a process does, it
 * ends with 0; and if it does not end, it is ended some time after the job.
 */
#ifndef EPOP_ADAPT_LEAVING_H
#define EPOP_ADAPT_LEAVING_H

#include <stdbool.h>

#include "epop/mpi_adapt.h"

/* Reads $EPOP_LEAVE and $EPOP_LEAVE_SECONDS. NULL, or what is wrong with them, as one line. */
const char *leaving_read(void);

/* The program says it: that counts. -1: it is no way to leave. */
int leaving_choose(epop_mpi_leave_t how);

/* Does a process that leaves end in commit? */
bool leaving_in_commit(void);

/* How long a process may run on when its job is over. */
double leaving_seconds(void);

/*
 * The window of a process that leaves is open. Programs that rely on ending in commit take part in what is collective
 * over the new world, which is MPI_COMM_NULL to them: for those the error is returned, and does not end the job.
 */
void leaving_opens(void);

/* Before the commit of a process that leaves: its error handler is to be kept. */
void leaving_commits(void);

/* From here on this process is alone: it has left a job that goes on without it. */
void leaving_begin(void);

#endif
