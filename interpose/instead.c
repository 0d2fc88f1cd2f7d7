/* What the wrappers call instead of MPI's own function: see instead.h. */
#include "interpose/instead.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/keyvals.h"

struct interpose_life interpose_life;

/* ---- The life of the job --------------------------------------------------------- */

int epop__instead_MPI_Init(int *argc, char ***argv)
{
    return interpose_life.init ? interpose_life.init(argc, argv) : PMPI_Init(argc, argv);
}

int epop__instead_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return interpose_life.init_thread ? interpose_life.init_thread(argc, argv, required, provided)
                                      : PMPI_Init_thread(argc, argv, required, provided);
}

int epop__instead_MPI_Initialized(int *flag)
{
    return interpose_life.initialized ? interpose_life.initialized(flag) : PMPI_Initialized(flag);
}

int epop__instead_MPI_Finalize(void)
{
    return interpose_life.finalize ? interpose_life.finalize() : PMPI_Finalize();
}

int epop__instead_MPI_Finalized(int *flag)
{
    return interpose_life.finalized ? interpose_life.finalized(flag) : PMPI_Finalized(flag);
}

/* ---- Time -------------------------------------------------------------------------- */

/* The host's own clock, and not MPI's: it is there before MPI is up and behind its end, and goes on through all lives
 * of a job. */
static double in_seconds(struct timespec time)
{
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double epop__instead_MPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return in_seconds(now);
}

double epop__instead_MPI_Wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return in_seconds(tick);
}

/* ---- Communicators ------------------------------------------------------------------ */

/* Before anything was adapted MPI itself says that MPI_COMM_WORLD cannot be freed. */
static bool is_present_world(const MPI_Comm *comm)
{
    if (interpose_world_is_going()) /* asked first: the next world is there before this one is over */
        return false;
    MPI_Comm world = interpose_world(MPI_COMM_WORLD);
    return comm && world != MPI_COMM_WORLD && *comm != MPI_COMM_NULL && interpose_world(*comm) == world;
}

/* Of the real one, so that all processes end with this code, and not with that of their cleaning up. */
int epop__instead_MPI_Abort(MPI_Comm comm, int code)
{
    if (comm == MPI_COMM_NULL || is_present_world(&comm))
        comm = MPI_COMM_WORLD;
    return interpose_life.abort ? interpose_life.abort(comm, code) : PMPI_Abort(comm, code);
}

void epop__instead__exit(int status)
{
    for (;;)
        syscall(SYS_exit_group, interpose_life.exit ? interpose_life.exit(status) : status);
}

static int refuse(void)
{
    PMPI_Comm_call_errhandler(interpose_world(MPI_COMM_WORLD), MPI_ERR_COMM);
    return MPI_ERR_COMM;
}

int epop__instead_MPI_Comm_free(MPI_Comm *comm)
{
    return is_present_world(comm) ? refuse() : PMPI_Comm_free(comm);
}

int epop__instead_MPI_Comm_disconnect(MPI_Comm *comm)
{
    return is_present_world(comm) ? refuse() : PMPI_Comm_disconnect(comm);
}

int epop__instead_MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    int error = PMPI_Comm_set_errhandler(comm, handler);
    if (error == MPI_SUCCESS && is_present_world(&comm))
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    return error;
}

int epop__instead_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return epop__instead_MPI_Comm_set_errhandler(comm, handler);
}

/* ---- Keys of attributes ---------------------------------------------------------------- */

int epop__instead_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                         MPI_Comm_delete_attr_function *free_attribute, int *keyval, void *extra_state)
{
    int error = PMPI_Comm_create_keyval(copy, free_attribute, keyval, extra_state);
    if (error == MPI_SUCCESS)
        keyvals_add(*keyval, copy, extra_state);
    return error;
}

int epop__instead_MPI_Comm_free_keyval(int *keyval)
{
    int key = keyval ? *keyval : MPI_KEYVAL_INVALID;
    int error = PMPI_Comm_free_keyval(keyval);
    if (error == MPI_SUCCESS)
        keyvals_remove(key);
    return error;
}

int epop__instead_MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *free_attribute, int *keyval,
                                    void *extra_state)
{
    return epop__instead_MPI_Comm_create_keyval(copy, free_attribute, keyval, extra_state);
}

int epop__instead_MPI_Keyval_free(int *keyval)
{
    return epop__instead_MPI_Comm_free_keyval(keyval);
}

void epop__instead_fortran_keyval(int keyval, const struct epop__fortran_keyval *how)
{
    keyvals_by_fortran(keyval, how);
}
