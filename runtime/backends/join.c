/*
 * The join backend, ranks' side: new processes come in a launch of their own, open a port, and sleep on the control
 * plane until all old ranks are at the target; then they accept and the old ranks connect. Processes that leave end
 * for real. (Compres 2017, section 6.2.3, for the order that hides the start-up.)
 */
#include <mpi.h>

#include "runtime/backends/backend.h"
#include "runtime/backends/connecting.h"
#include "runtime/backends/launcher.h"

static MPI_Comm join_first_world(struct world *world, int size)
{
    MPI_Comm comm;
    (void)size; /* all of the launch: this backend lends none */
    MPI_Comm_dup(world->launch, &comm);
    return comm;
}

static MPI_Comm join_joiners_world(struct world *world, const int *processes, int count, int adaptation)
{
    (void)processes;
    (void)count;
    (void)adaptation;
    return join_first_world(world, 0);
}

static int join_connect(struct world *world, char *error, size_t error_size)
{
    epop_window_t *w = &world->window;
    const char *port = world->plan->port ? world->plan->port : "";
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (connecting_meet(world, port, error, error_size))
        return -1;
    connecting_make_after(w);
    return 0;
}

const struct backend backend_join = {
    .coordinator = {.name = "join",
                    .choose = launcher_choose,
                    .start = launcher_start,
                    .cancel = launcher_cancel,
                    .kill = launcher_kill,
                    .event = launcher_event,
                    .tick = launcher_tick,
                    .busy = launcher_busy,
                    .ends = true},
    .flags = BACKEND_ENDS,
    .merit = "this MPI library can connect processes at run time, and its launcher lets single ones end",
    .available = connecting_available,
    .first_world = join_first_world,
    .joiners_world = join_joiners_world,
    .port = connecting_port,
    .connect = join_connect,
    .commit = connecting_commit,
};
