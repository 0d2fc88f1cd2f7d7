/*
 * No program, but a library to be preloaded: as long as the file EPOP_TEST_SPAWN_FAILS is there, MPI_Comm_spawn
 * returns an error on every rank, on all or on none as the real one does; or with EPOP_TEST_SPAWN_HANGS it does not
 * return.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlfcn.h>

typedef int spawn_t(const char *, char *[], int, MPI_Info, int, MPI_Comm, MPI_Comm *, int[]);

int PMPI_Comm_spawn(const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm *made, int codes[])
{
    const char *path = getenv("EPOP_TEST_SPAWN_FAILS"), *hangs = getenv("EPOP_TEST_SPAWN_HANGS");
    void *found = dlsym(RTLD_NEXT, "PMPI_Comm_spawn");
    int fails = path && access(path, F_OK) == 0;
    spawn_t *real;
    if (path)
        PMPI_Bcast(&fails, 1, MPI_INT, root, comm);
    if (fails)
        return MPI_ERR_SPAWN;
    while (hangs && access(hangs, F_OK) == 0)
        pause();
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    return real(command, argv, count, info, root, comm, made, codes);
}
