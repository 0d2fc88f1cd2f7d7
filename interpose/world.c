/* What MPI_COMM_WORLD means: see interpose.h. */
#include "interpose/interpose.h"
#include "interpose/keyvals.h"

static void name_world(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    if (!length)
        PMPI_Comm_set_name(comm, "MPI_COMM_WORLD");
}

static atomic_bool going;

void interpose_world_goes(void)
{
    atomic_store(&going, true);
}

bool interpose_world_is_going(void)
{
    return atomic_load(&going);
}

void interpose_set_world(MPI_Comm comm)
{
    MPI_Comm before = atomic_load(&epop__interpose.world);
    if (comm != MPI_COMM_NULL)
        name_world(comm);
    else if (before != MPI_COMM_WORLD) /* a function of a program that is unloaded next */
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    atomic_store(&epop__interpose.world, comm);
    atomic_store(&going, false);
}

static void inherit_error_handler(MPI_Comm before, MPI_Comm after)
{
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(before, &handler) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(after, handler);
    PMPI_Errhandler_free(&handler);
}

void interpose_inherit(MPI_Comm before, MPI_Comm after)
{
    if (before == MPI_COMM_NULL || after == MPI_COMM_NULL)
        return;
    inherit_error_handler(before, after);
    keyvals_copy(before, after);
}

void interpose_abandon(MPI_Comm before)
{
    keyvals_delete(before);
}
