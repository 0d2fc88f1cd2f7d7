/*
 * The join backend, ranks' side: new processes come in a launch of their own, open a port, and sleep on the control
 * plane until all old ranks are at the target; then they accept and the old ranks connect. Processes that leave end
 * for real. (Compres 2017, section 6.2.3, for the order that hides the start-up.)
 */
#include <mpi.h>

#include "runtime/backends/connecting.h"
#include "runtime/backends/gathering.h"
#include "runtime/backends/launcher.h"
#include "runtime/backends/parking.h"
#include "runtime/backends/preconnect.h"
#include "runtime/base/error.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/hydra/keeper.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

/* ---- The coordinator's thread: parked processes first, new ones for the rest --------------- */

static int join_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    parking_choose(c, a, hosts);
    return a->parked < a->joining ? launcher_choose(c, a, hosts, error) : 0;
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

static struct backend_ways join_ways(void)
{
    return (struct backend_ways){.ahead = preconnect_possible()};
}

static double join_tick(struct coordinator *c)
{
    double parked = parking_tick(c), launched = launcher_tick(c);
    return parked < launched ? parked : launched;
}

/* ---- The control thread of each process ----------------------------------------------------- */

/* For a joiner that has to end at once; its own thread may be stuck in MPI. */
static void end_at_once(void *context, const struct order_join_end *order)
{
    (void)context, (void)order;
    keeper_end();
}

TAKES(order, connect, preconnect_connect)
TAKES(order, merge, preconnect_merge)
TAKES(order, disconnect, preconnect_disconnect)
TAKES(order, join_end, end_at_once)

static const struct message_row messages[] = {
    {order_connect_id, order_connect_taken},
    {order_merge_id, order_merge_taken},
    {order_disconnect_id, order_disconnect_taken},
    {order_join_end_id, order_join_end_taken},
};

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

static int join_connect(struct world *world, struct error *error)
{
    epop_window_t *w = &world->window;
    if (world->plan->connected) {
        preconnect_take(world->plan->adaptation, w);
        return 0;
    }
    const char *port = world->plan->port ? world->plan->port : "";
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (connecting_meet(world, port, error))
        return -1;
    connecting_make_after(w);
    preconnect_renew(w->after);
    return 0;
}

const struct backend backend_join = {
    .name = "join",
    .merit = "this MPI library can connect processes at run time, and its launcher lets single ones end",
    .leavers = LEAVERS_DO_BOTH,
    .connects = CONNECTS_IN_TIME,
    .ways = join_ways,
    .available = connecting_available,
    .choose = join_choose,
    .start = join_start,
    .cancel = join_cancel,
    .kill = join_kill,
    .event = launcher_event,
    .tick = join_tick,
    .launched = launcher_runs,
    .busy = launcher_busy,
    .first_world = join_first_world,
    .joiners_world = join_joiners_world,
    .port = join_port,
    .connect = join_connect,
    .commit = preconnect_commit,
    .begin = preconnect_begin,
    .messages = messages,
    .message_count = sizeof messages / sizeof *messages,
};
