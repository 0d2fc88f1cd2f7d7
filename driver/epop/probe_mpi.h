/*
 * What an MPI library can do, found by trying: one thing in each launch, as an attempt that fails may leave the library
 * in any state. Prints one line on rank 0: the thing, then the answer, "yes" or "no" with the reason. Needs nothing
 * else of EPOP, so that an MPICH can be tried before EPOP is built with it.
 */
#ifndef DRIVER_PROBE_MPI_H
#define DRIVER_PROBE_MPI_H

/* Initializes MPI; the thread level that it provides. Collective, as all here. */
int probe_mpi_begin(void);

/*
 * Tries version, threads, spawn, accept, connect (argument: the port), files (argument: a path) or wait (2 ranks).
 * spawn starts `self` with the arguments `child`, which has to try "child". accept prints "port NAME" when it can be
 * connected to, and waits for that. Returns the exit status; 2 if there is no such thing to try.
 */
int probe_mpi(const char *thing, const char *argument, char *self, char *child[], int provided);

#endif
