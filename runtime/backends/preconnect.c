/*
 * Each task has a thread of its own. One that is given up, because its partner is gone, may never come back out of
 * MPI: then the others go on without it, and what it holds is lost.
 */
#include "runtime/backends/preconnect.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/backends/connecting.h"
#include "runtime/backends/detour.h"
#include "runtime/backends/device.h"
#include "runtime/base/clock.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/thread.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"

enum { COMMS = 4 };

#define EARLIER_SECONDS 5 /* if one of them is stuck */

struct connection_task {
    void (*perform)(struct connection_task *task);
    bool finished, off;    /* off: nobody waits for it any more */
    bool all_linked;       /* all processes are connected, and alive: on with it */
    MPI_Comm comms[COMMS]; /* that it disconnects */
    /* To connect: */
    struct plan *plan;
    epop_window_t window; /* before is a copy of the world */
    MPI_Comm next;        /* a copy of the world to be */
};

static struct {
    struct member *member;
    bool possible, tried;
    MPI_Comm copy, next; /* of the present world, and of the one that the window makes; MPI_COMM_NULL: none */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct connection_task *connecting; /* for the pending adaptation; NULL: none */
    int disconnecting;                  /* tasks */
} state = {.copy = MPI_COMM_NULL,
           .next = MPI_COMM_NULL,
           .lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

bool preconnect_wanted(void)
{
    return device_sleeps();
}

bool preconnect_possible(void)
{
    return state.possible;
}

bool preconnect_tried(void)
{
    return state.tried;
}

void preconnect_begin(struct world *world)
{
    int provided;
    MPI_Query_thread(&provided);
    state.member = world->member;
    state.possible = preconnect_wanted() && provided == MPI_THREAD_MULTIPLE;
    preconnect_end(); /* of a joining that was called off */
    if (state.possible)
        MPI_Comm_dup(world->comm, &state.copy);
}

void preconnect_end(void)
{
    if (state.copy != MPI_COMM_NULL)
        MPI_Comm_free(&state.copy);
}

/* ---- Tasks --------------------------------------------------------------------------- */

static void task_free(struct connection_task *task)
{
    plan_free(task->plan);
    free(task);
}

/*
 * Connections close when the last communicator that has them, which is the window's all, is disconnected; that call
 * waits until they have. In the first rank it never comes back once a joiner died while it closed a connection to it
 * (MPICH counts those that are being closed), so nobody waits for this.
 */
static void disconnect(struct connection_task *task)
{
    MPI_Comm last = MPI_COMM_NULL;
    for (int i = 0; i < COMMS; i++) {
        if (task->comms[i] == MPI_COMM_NULL)
            continue;
        if (last != MPI_COMM_NULL)
            MPI_Comm_free(&last);
        last = task->comms[i];
    }
    if (last != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(last, MPI_ERRORS_RETURN); /* others may end meanwhile */
        connecting_part(&last);
    }
    task_free(task);
}

static void disconnect_beside(struct connection_task *task)
{
    disconnect(task);
    pthread_mutex_lock(&state.lock);
    state.disconnecting--;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

/*
 * Before this process leaves. What an earlier one still has to free keeps a connection open, so that this one's end
 * would not be awaited by it: it would end under the hands of those that close the connection, and a reset ends them.
 */
static void wait_for_earlier_ones(void)
{
    const struct timespec until = clock_in(CLOCK_MONOTONIC, EARLIER_SECONDS);
    pthread_mutex_lock(&state.lock);
    while (state.disconnecting && !pthread_cond_clockwait(&state.changed, &state.lock, CLOCK_MONOTONIC, &until))
        ;
    pthread_mutex_unlock(&state.lock);
}

static void *run(void *argument)
{
    struct connection_task *task = argument;
    task->perform(task);
    return NULL;
}

static struct connection_task *task_new(void (*perform)(struct connection_task *task))
{
    struct connection_task *task = calloc(1, sizeof *task);
    if (!task)
        ending_abort("out of memory");
    task->perform = perform;
    task->next = MPI_COMM_NULL;
    for (int i = 0; i < COMMS; i++)
        task->comms[i] = MPI_COMM_NULL;
    return task;
}

static void begin(struct connection_task *task)
{
    if (thread_start(NULL, run, task))
        ending_abort("cannot start the thread that connects processes");
}

/* ---- Connecting ---------------------------------------------------------------------------- */

/* 0, or -1 with text. */
static int connect_worlds(struct connection_task *task, struct error *error)
{
    epop_window_t *w = &task->window;
    const char *named = task->plan->port ? task->plan->port : "";
    char port[PORT_MOST] = "";
    struct error refusal = {0};
    bool root = w->old_rank == 0;
    /* If that fails, the connect to a port without a name fails on all ranks: they wait for this one in it. */
    if (root && detour_begin(named, port, sizeof port, &refusal))
        port[0] = 0;
    if (connecting_connect(w, root ? port : named, BACKEND_CONNECT_LONGEST + 1, error)) {
        if (refusal.code)
            *error = refusal;
        return -1;
    }
    return 0;
}

/*
 * What comes next is between all processes, and cannot do without one that dies. So they wait here until the
 * coordinator has heard of all of them. -1: it is off.
 */
static int wait_for_all(struct connection_task *task)
{
    member_linked(state.member, task->plan->adaptation);
    pthread_mutex_lock(&state.lock);
    while (!task->all_linked && !task->off)
        pthread_cond_wait(&state.changed, &state.lock);
    bool off = task->off;
    pthread_mutex_unlock(&state.lock);
    if (off)
        MPI_Comm_free(&task->window.intercomm);
    return off ? -1 : 0;
}

static int make(struct connection_task *task, struct error *error)
{
    epop_window_t *w = &task->window;
    if (w->before == MPI_COMM_NULL) {
        return error_set(error, ERROR_FAILED, "this process has no thread to connect with");
    }
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (connect_worlds(task, error) || wait_for_all(task))
        return -1;
    else
        connecting_merge(w);
    connecting_make_after(w);
    if (w->after != MPI_COMM_NULL)
        MPI_Comm_dup(w->after, &task->next);
    return 0;
}

/* Without a word to the other side, which may be gone. */
static void take_back(struct connection_task *task)
{
    epop_window_t *w = &task->window;
    MPI_Comm *const made[] = {&w->intercomm, &w->all, &w->after, &task->next};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (*made[i] != MPI_COMM_NULL)
            MPI_Comm_free(made[i]);
    task_free(task);
}

/* Whoever comes second, the end of this or the word that it is off, frees what was made. Else the window takes it, or
 * preconnect_disconnect, as soon as the lock is released. */
static void connect(struct connection_task *task)
{
    struct error error = {0};
    int failed = make(task, &error), adaptation = task->plan->adaptation;
    pthread_mutex_lock(&state.lock);
    task->finished = true;
    bool off = task->off;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
    if (off)
        take_back(task);
    else
        member_connected(state.member, adaptation, failed ? error.text : NULL);
}

void preconnect_connect(void *context, const struct order_connect *order)
{
    (void)context;
    struct plan *plan = plan_of(order->plan);
    if (!plan)
        return;
    struct connection_task *task = task_new(connect);
    task->plan = plan;
    world_window(plan, state.member->process, &task->window);
    pthread_mutex_lock(&state.lock);
    state.tried = true;
    task->window.before = state.copy;
    state.connecting = task;
    pthread_mutex_unlock(&state.lock);
    begin(task);
}

/*
 * lost: not all processes have connected, and some may be stuck in it. Then nobody disconnects the copy of the world:
 * who did would wait for those that cannot.
 */
void preconnect_disconnect(void *context, const struct order_disconnect *order)
{
    (void)context;
    bool lost = order->lost;
    pthread_mutex_lock(&state.lock);
    struct connection_task *task = state.connecting;
    state.connecting = NULL;
    if (lost)
        state.copy = MPI_COMM_NULL;
    if (task && task->finished) {
        task->perform = take_back;
        begin(task);
    } else if (task) {
        task->off = true;
        pthread_cond_broadcast(&state.changed);
    }
    pthread_mutex_unlock(&state.lock);
}

void preconnect_merge(void *context, const struct order_merge *order)
{
    (void)context;
    (void)order;
    pthread_mutex_lock(&state.lock);
    if (state.connecting)
        state.connecting->all_linked = true;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

/* ---- The window -------------------------------------------------------------------------------- */

void preconnect_take(int adaptation, epop_window_t *window)
{
    pthread_mutex_lock(&state.lock);
    struct connection_task *task = state.connecting;
    if (!task || task->plan->adaptation != adaptation)
        ending_abort("the communicators of an adaptation were to be there, and are not");
    while (!task->finished)
        pthread_cond_wait(&state.changed, &state.lock);
    state.connecting = NULL;
    pthread_mutex_unlock(&state.lock);
    window->intercomm = task->window.intercomm;
    window->all = task->window.all;
    window->after = task->window.after;
    state.next = task->next;
    task_free(task);
}

void preconnect_renew(MPI_Comm after)
{
    if (state.possible && after != MPI_COMM_NULL)
        MPI_Comm_dup(after, &state.next);
}

void preconnect_commit(struct world *world)
{
    const epop_window_t *w = &world->window;
    bool beside = state.possible && w->new_rank >= 0;
    struct connection_task *task = task_new(beside ? disconnect_beside : disconnect);
    if (beside)
        interpose_abandon(w->before);
    else
        wait_for_earlier_ones();
    pthread_mutex_lock(&state.lock);
    const MPI_Comm old[COMMS] = {w->intercomm, w->before, state.copy, w->all};
    memcpy(task->comms, old, sizeof old);
    state.copy = state.next;
    state.next = MPI_COMM_NULL;
    state.disconnecting += beside;
    pthread_mutex_unlock(&state.lock);
    if (beside) {
        begin(task);
        return;
    }
    disconnect(task);
}
