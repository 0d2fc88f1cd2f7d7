/*
 * The join backend, ranks' side: new processes come in a launch of their own, open a port, and sleep on the control
 * plane until all old ranks are at the target; then they accept and the old ranks connect. Processes that leave end
 * for real. (Compres 2017, section 6.2.3, for the order that hides the start-up.)
 */
#include <mpi.h>
#include <string.h>

#include "runtime/backends/ahead.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/connecting.h"
#include "runtime/backends/keeper.h"
#include "runtime/backends/launcher.h"
#include "runtime/backends/parking.h"
#include "runtime/member/json.h"

/* ---- The coordinator's thread: parked processes first, new ones for the rest --------------- */

static int join_choose(struct coordinator *c, struct adaptation *a, const char *hosts, char *error, size_t error_size)
{
    parking_choose(c, a, hosts);
    return a->parked < a->joining ? launcher_choose(c, a, hosts, error, error_size) : 0;
}

static bool join_start(struct coordinator *c, const struct adaptation *a)
{
    if (a->parked < a->joining && !launcher_start(c, a))
        return false;
    parking_start(c, a);
    return true;
}

static void join_cancel(struct coordinator *c, const struct adaptation *a)
{
    parking_cancel(c, a);
    launcher_cancel(c, a);
}

static void join_kill(struct coordinator *c, const struct adaptation *a)
{
    parking_kill(c, a);
    launcher_kill(c, a);
}

static double join_tick(struct coordinator *c)
{
    double parked = parking_tick(c), launched = launcher_tick(c);
    return parked < launched ? parked : launched;
}

/* ---- The control thread of each process ----------------------------------------------------- */

/* "join_end" is for a joiner that has to end at once; its own thread may be stuck in MPI. */
static void join_message(const cJSON *message)
{
    if (!strcmp(json_text(message, "op"), "join_end"))
        keeper_end();
    ahead_message(message);
}

/* ---- Every process's own thread ------------------------------------------------------------- */

static MPI_Comm join_first_world(struct world *world, int size)
{
    MPI_Comm comm;
    (void)size; /* all of the launch: this backend lends none */
    MPI_Comm_dup(world->launch, &comm);
    return comm;
}

static MPI_Comm join_joiners_world(struct world *world, const struct gathering *joiners)
{
    return joiners->count ? gathering_group(joiners, world->launch, world->first) : join_first_world(world, 0);
}

static char *join_port(void)
{
    return connecting_port(world.member->process % CONNECTING_PORTS);
}

static int join_connect(struct world *world, char *error, size_t error_size)
{
    epop_window_t *w = &world->window;
    if (world->plan->connected) {
        ahead_take(world->plan->adaptation, w);
        return 0;
    }
    const char *port = world->plan->port ? world->plan->port : "";
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (connecting_meet(world, port, error, error_size))
        return -1;
    connecting_make_after(w);
    ahead_renew(w->after);
    return 0;
}

const struct backend backend_join = {
    .coordinator = {.name = "join",
                    .choose = join_choose,
                    .start = join_start,
                    .cancel = join_cancel,
                    .kill = join_kill,
                    .event = launcher_event,
                    .tick = join_tick,
                    .busy = launcher_busy,
                    .ahead = ahead_possible,
                    .ends = true},
    .flags = BACKEND_ENDS | BACKEND_PARKS,
    .merit = "this MPI library can connect processes at run time, and its launcher lets single ones end",
    .available = connecting_available,
    .first_world = join_first_world,
    .joiners_world = join_joiners_world,
    .port = join_port,
    .connect = join_connect,
    .commit = ahead_commit,
    .message = join_message,
};
