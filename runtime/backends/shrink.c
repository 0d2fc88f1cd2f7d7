/*
 * Processes leave and end for real, as with join, but none can join: for executables on an MPI that cannot connect
 * processes. (The pool would need them to stand by in the middle of main().)
 */
#include <mpi.h>
#include <stdio.h>

#include "runtime/backends/backend.h"
#include "runtime/backends/connecting.h"
#include "runtime/backends/pmi.h"

static int shrink_choose(struct coordinator *c, struct adaptation *a, const char *hosts, char *error, size_t error_size)
{
    (void)c;
    (void)hosts;
    if (!a->joining)
        return 0;
    snprintf(error, error_size, "the job cannot grow: this MPI library cannot connect processes at run time");
    return -1;
}

static bool shrink_start(struct coordinator *c, const struct adaptation *a)
{
    (void)c;
    (void)a;
    return true;
}

static void shrink_cancel(struct coordinator *c, const struct adaptation *a)
{
    (void)c;
    (void)a;
}

static int shrink_available(char *reason, size_t reason_size)
{
    if (pmi_can_leave())
        return 0;
    snprintf(reason, reason_size, "the launcher is not Hydra's mpiexec, which lets one process leave");
    return -1;
}

static MPI_Comm shrink_first_world(struct world *world, int size)
{
    MPI_Comm comm;
    (void)size; /* all of the launch: this backend lends none */
    MPI_Comm_dup(world->launch, &comm);
    return comm;
}

static MPI_Comm shrink_joiners_world(struct world *world, const struct gathering *joiners)
{
    (void)world;
    (void)joiners;
    return MPI_COMM_NULL;
}

static char *shrink_port(void)
{
    return NULL;
}

static int shrink_connect(struct world *world, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    MPI_Comm_dup(world->window.before, &world->window.all);
    connecting_make_after(&world->window);
    return 0;
}

const struct backend backend_shrink = {
    .coordinator =
        {.name = "shrink", .choose = shrink_choose, .start = shrink_start, .cancel = shrink_cancel, .ends = true},
    .flags = BACKEND_ENDS | BACKEND_ASKED,
    .available = shrink_available,
    .first_world = shrink_first_world,
    .joiners_world = shrink_joiners_world,
    .port = shrink_port,
    .connect = shrink_connect,
    .commit = connecting_commit,
};
