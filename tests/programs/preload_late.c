/*
 * No program, but a library to be preloaded: what is disconnected beside the program, by another thread than its own,
 * is late by as much as EPOP_TEST_LATE says, in ms. So it is still being disconnected at the next resizes.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    const char *late = getenv("EPOP_TEST_LATE");
    void *found = dlsym(RTLD_NEXT, "PMPI_Comm_disconnect");
    int (*real)(MPI_Comm *);
    if (late && gettid() != getpid())
        usleep((useconds_t)atoi(late) * 1000);
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    return real(comm);
}
