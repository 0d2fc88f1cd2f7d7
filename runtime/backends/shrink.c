/*
 * Processes leave and end for real, as with join, but none can join: for executables on an MPI that cannot connect
 * processes. (The pool would need them to stand by in the middle of main().)
 */
#include <mpi.h>
#include <stdio.h>

#include "runtime/backends/connecting.h"
#include "runtime/backends/gathering.h"
#include "runtime/base/error.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/launch/engine.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

static int shrink_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    (void)c;
    (void)hosts;
    if (!a->joining)
        return 0;
    return error_set(error, ERROR_FAILED, "the job cannot grow: this MPI library cannot connect processes at run time");
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

static int shrink_available(struct error *reason)
{
    if (engine()->can_leave())
        return 0;
    return error_set(reason, ERROR_FAILED, "the launcher is none that lets one process leave");
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

static int shrink_connect(struct world *world, struct error *error)
{
    (void)error;
    MPI_Comm_dup(world->window.before, &world->window.all);
    connecting_make_after(&world->window);
    return 0;
}

const struct backend backend_shrink = {
    .name = "shrink",
    .leavers = LEAVERS_END,
    .connects = CONNECTS_OR_NOT,
    .available = shrink_available,
    .choose = shrink_choose,
    .start = shrink_start,
    .cancel = shrink_cancel,
    .first_world = shrink_first_world,
    .joiners_world = shrink_joiners_world,
    .port = shrink_port,
    .connect = shrink_connect,
    .commit = connecting_commit,
};
