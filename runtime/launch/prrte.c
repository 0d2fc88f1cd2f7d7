/*
 * PRRTE, Open MPI's engine. A process talks to it by PMIx, whose library Open MPI has brought into the process. Its
 * mpiexec starts the processes of its own host itself, and sees the end of what it has sent to others.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/launch/engine.h"

typedef int initialized_call(void);
typedef int finalize_call(const void *info, size_t count);

enum { LIVES_MOST = 16 }; /* MPI, and whatever else calls PMIx_Init: each has to be undone */

static void *find(const char *function)
{
    return dlsym(RTLD_DEFAULT, function);
}

static bool can_leave(void)
{
    return getenv("PMIX_RANK") && find("PMIx_Finalize") && find("PMIx_Initialized");
}

/* What PMIx says when a process has ended all of it by itself: PRRTE then takes its end for a good one. */
static void finalize(void)
{
    initialized_call *initialized;
    finalize_call *end;
    if (!can_leave())
        return;
    *(void **)&initialized = find("PMIx_Initialized");
    *(void **)&end = find("PMIx_Finalize");
    for (int i = 0; i < LIVES_MOST && initialized(); i++)
        end(NULL, 0);
}

static bool never_failed(pid_t mpiexec, char *name, size_t name_size, int *status)
{
    (void)mpiexec, (void)name, (void)name_size, (void)status;
    return false;
}

static bool never_alone(pid_t mpiexec)
{
    (void)mpiexec;
    return false;
}

const struct engine engine_prrte = {
    .maker = "Open MPI",
    .name = "the launcher of Open MPI",
    .mpiexec = "mpiexec.openmpi",
    .signs = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    .size = "OMPI_COMM_WORLD_SIZE",
    .rank = "OMPI_COMM_WORLD_RANK",
    .host_option = "--host",
    .can_leave = can_leave,
    .finalize = finalize,
    .failed = never_failed,
    .is_alone = never_alone,
};
