/*
 * Waiting that gives up the processor. MPI's own waits spin; where ranks share a core that costs a time slice per
 * message, since the rank that is waited for does not run.
 */
#ifndef REDIST_WAIT_H
#define REDIST_WAIT_H

#include <mpi.h>

/* As MPI_Waitany, without statuses. Where MPI sleeps while it waits, it sleeps for requests[first] alone, which has to
 * come to its end whatever becomes of the others; MPI_UNDEFINED: none is active. */
int redist_wait_any(int count, MPI_Request *requests, int first, int *index);
/* As MPI_Wait and MPI_Waitall. */
int redist_wait(MPI_Request *request);
int redist_wait_all(int count, MPI_Request *requests);

#endif
