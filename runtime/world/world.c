/* The present world, the window of an adaptation, and the calls of epop/elastic.h about them. */
#include "runtime/world/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "epop/mpi_adapt.h"
#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/member/member.h"
#include "runtime/world/backend.h"

struct world world = {.launch = MPI_COMM_NULL, .comm = MPI_COMM_NULL, .rank = -1};
static const struct world_services *services;

void world_serve(const struct world_services *by_job)
{
    services = by_job;
}

void world_connected(void)
{
    if (services)
        services->connected();
}

void world_set(MPI_Comm comm, epop_status_t status)
{
    world.comm = comm;
    world.status = status;
    world.committed = false;
    world.rank = -1;
    world.size = 0;
    interpose_set_world(world.hidden ? MPI_COMM_NULL : comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &world.rank);
        MPI_Comm_size(comm, &world.size);
    }
}

MPI_Comm epop_world(void)
{
    int initialized, finalized;
    if (world.launch != MPI_COMM_NULL)
        return world.comm;
    /* No job around: a program's code in a plain executable, a test, a debugger. */
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized)
        MPI_Init(NULL, NULL);
    return finalized ? MPI_COMM_NULL : MPI_COMM_WORLD;
}

epop_status_t epop_status(void)
{
    return world.status;
}

static const struct window_watch *watch;

void epop__watch_window(const struct window_watch *watcher)
{
    watch = watcher;
}

static void inherit(void)
{
    if (!world.inherited)
        interpose_inherit(world.window.before, world.window.after);
    world.inherited = true;
}

void world_ahead(void)
{
    if (world.state != WINDOW_OPEN)
        return;
    inherit();
    world.comm = world.window.after;
    interpose_set_world(world.comm);
}

void world_back(void)
{
    if (world.state != WINDOW_OPEN)
        return;
    world.comm = world.window.before;
    interpose_set_world(world.comm);
}

/* ---- The window ------------------------------------------------------------- */

void world_window(const struct plan *plan, int process, epop_window_t *window)
{
    int index = plan_index(plan, process);
    bool old = index < plan->old_size;
    *window = (epop_window_t){
        .old_rank = old ? index : -1,
        .old_size = plan->old_size,
        .new_rank = plan->new_ranks[index],
        .new_size = plan_new_size(plan),
        .staying = plan->staying,
        .leaving = plan->old_size - plan->staying,
        .joining = plan->joining,
        .before = MPI_COMM_NULL,
        .after = MPI_COMM_NULL,
        .all = MPI_COMM_NULL,
        .intercomm = MPI_COMM_NULL,
        .new_ranks = plan->new_ranks,
    };
    window->status = !old ? EPOP_JOINING : window->new_rank < 0 ? EPOP_LEAVING : EPOP_STAYING;
}

int world_offer_window(struct plan *plan, int process, struct error *error)
{
    world.plan = plan;
    world_window(plan, process, &world.window);
    world.window.before = world.comm;
    if (world.backend->connect(&world, error))
        return -1;
    world.inherited = false;
    world.state = WINDOW_OFFERED;
    return 0;
}

/* The window if there is one in this state. Its status is looked at after a failure too, by blocks that free what a
 * leaving rank has. */
static int window_in(enum window_state state, epop_window_t *window)
{
    if (!window)
        return EPOP_ERR_ARGUMENT;
    *window = (epop_window_t){
        .before = MPI_COMM_NULL, .after = MPI_COMM_NULL, .all = MPI_COMM_NULL, .intercomm = MPI_COMM_NULL};
    if (world.state != state)
        return EPOP_ERR_STATE;
    *window = world.window;
    return EPOP_OK;
}

int epop_adapt_begin(epop_window_t *window)
{
    INTERPOSE_CALL(epop_adapt_begin);
    int error = window_in(WINDOW_OFFERED, window);
    if (error)
        return error;
    world.state = WINDOW_OPEN;
    world.status = world.window.status;
    if (watch)
        watch->begun(window);
    return EPOP_OK;
}

int epop_mpi_window(epop_window_t *window)
{
    return window_in(WINDOW_OPEN, window);
}

const int *world_loads(const epop_window_t *window)
{
    bool is_open = world.state == WINDOW_OPEN && window->all == world.window.all;
    return is_open ? world.plan->loads : NULL;
}

int epop_balance_loads(double *loads)
{
    epop_window_t window;
    int error = loads ? window_in(WINDOW_OPEN, &window) : EPOP_ERR_ARGUMENT;
    const int *said = error ? NULL : world_loads(&window);
    if (!error && !said)
        error = EPOP_ERR_STATE;
    for (int rank = 0; !error && rank < window.old_size; rank++)
        loads[rank] = (double)said[rank] / PLAN_LOADS;
    return error;
}

/* With the old world go its attributes, whose functions are the program's. No observer meets a world that is gone. */
static void change_world(void)
{
    INTERPOSE_ASIDE;
    interpose_world_goes();
    world.backend->commit(&world);
    world_set(world.window.after, world.window.status);
}

int epop_adapt_commit(void)
{
    INTERPOSE_CALL(epop_adapt_commit);
    if (world.state != WINDOW_OPEN)
        return EPOP_ERR_STATE;
    const epop_window_t window = world.window;
    if (watch)
        watch->commits(&window);
    world.state = WINDOW_COMMITTED;
    world.commit_begin = monotonic_ns();
    inherit();
    interpose_call_over(&interpose_call);
    change_world();
    world.committed = true;
    world.commit_end = monotonic_ns();
    if (watch)
        watch->committed(&window);
    return EPOP_OK;
}

int world_close_window(struct error *error)
{
    enum window_state state = world.state;
    world.state = WINDOW_NONE;
    if (state == WINDOW_COMMITTED)
        return 0;
    return error_set(error, ERROR_FAILED, "its adapt block returned without calling epop_adapt_%s",
                     state == WINDOW_OPEN ? "commit" : "begin");
}

/* ---- Requests ---------------------------------------------------------------- */

int epop_request(const epop_request_t *request)
{
    if (!request || request->size < 0 || request->release_count < 0 ||
        (request->release_count && !request->release_ranks))
        return EPOP_ERR_ARGUMENT;
    if (!request->size && !request->release_count && !request->release_hosts)
        return EPOP_ERR_ARGUMENT;
    const struct world_services *present = services; /* the job may be ending in another thread */
    return present ? present->request(request) : EPOP_ERR_STATE;
}

int epop_request_resize(int size)
{
    epop_request_t request = {.size = size};
    return size < 1 ? EPOP_ERR_ARGUMENT : epop_request(&request);
}

int epop_request_balance(void)
{
    const struct world_services *present = services;
    return present ? present->request_balance() : EPOP_ERR_STATE;
}

int epop_request_checkpoint(void)
{
    const struct world_services *present = services;
    return present ? present->request_checkpoint() : EPOP_ERR_STATE;
}
