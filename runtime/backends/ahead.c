/*
 * Each errand has a thread of its own. One that is given up, because its partner is gone, may never come back out of
 * MPI: then the others go on without it, and what it holds is lost. See ahead.h.
 */
#include "runtime/backends/ahead.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/backends/connecting.h"
#include "runtime/backends/detour.h"
#include "runtime/device.h"
#include "runtime/member/json.h"
#include "runtime/plane.h"

enum { COMMS = 4 };

struct errand {
    void (*perform)(struct errand *errand);
    bool finished, off;    /* off: nobody waits for it any more */
    bool all_linked;       /* all processes are connected, and alive: on with it */
    MPI_Comm comms[COMMS]; /* that it disconnects or frees */
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
    struct errand *connecting; /* for the pending adaptation; NULL: none */
} state = {.copy = MPI_COMM_NULL,
           .next = MPI_COMM_NULL,
           .lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

bool ahead_wanted(void)
{
    return device_sleeps();
}

bool ahead_possible(void)
{
    return state.possible;
}

bool ahead_tried(void)
{
    return state.tried;
}

void ahead_begin(struct member *member, MPI_Comm comm)
{
    int provided;
    MPI_Query_thread(&provided);
    state.member = member;
    state.possible = ahead_wanted() && provided == MPI_THREAD_MULTIPLE;
    ahead_end(); /* of a joining that was called off */
    if (state.possible)
        MPI_Comm_dup(comm, &state.copy);
}

void ahead_end(void)
{
    if (state.copy != MPI_COMM_NULL)
        MPI_Comm_free(&state.copy);
}

/* ---- Errands --------------------------------------------------------------------------- */

/* Without a word to the other side, which may be gone. */
static void let_go(struct errand *e)
{
    for (int i = 0; i < COMMS; i++)
        if (e->comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&e->comms[i]);
}

/*
 * Connections close when the last communicator that has them, which is the window's all, is disconnected; that call
 * waits until they have. In the
 * first rank it never comes back once a joiner died while it closed a connection to it (MPICH counts those that are
 * being closed), so nobody waits for this.
 */
static void disconnect(struct errand *e)
{
    MPI_Comm last = MPI_COMM_NULL;
    for (int i = 0; i < COMMS; i++) {
        if (e->comms[i] == MPI_COMM_NULL)
            continue;
        if (last != MPI_COMM_NULL)
            MPI_Comm_free(&last);
        last = e->comms[i];
    }
    if (last != MPI_COMM_NULL)
        MPI_Comm_disconnect(&last);
}

static void finish(struct errand *e)
{
    pthread_mutex_lock(&state.lock);
    e->finished = true;
    bool kept = e == state.connecting;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
    if (kept)
        return;
    plan_free(e->plan);
    free(e);
}

static void *run(void *argument)
{
    struct errand *e = argument;
    e->perform(e);
    finish(e);
    return NULL;
}

static struct errand *errand_new(void (*perform)(struct errand *errand))
{
    struct errand *e = calloc(1, sizeof *e);
    if (!e)
        plane_abort("out of memory");
    e->perform = perform;
    e->next = MPI_COMM_NULL;
    for (int i = 0; i < COMMS; i++)
        e->comms[i] = MPI_COMM_NULL;
    return e;
}

static void begin(struct errand *e)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, e))
        plane_abort("cannot start the thread that connects processes");
    pthread_detach(thread);
}

/* ---- Connecting ---------------------------------------------------------------------------- */

/* 0, or -1 with text. */
static int connect_worlds(struct errand *e, char *error, size_t error_size)
{
    epop_window_t *w = &e->window;
    const char *named = e->plan->port ? e->plan->port : "";
    char port[MPI_MAX_PORT_NAME] = "", refusal[200] = "";
    bool root = w->old_rank == 0;
    /* If that fails, the connect to a port without a name fails on all ranks: they wait for this one in it. */
    if (root && detour_begin(named, port, sizeof port, refusal, sizeof refusal))
        port[0] = 0;
    if (connecting_connect(w, root ? port : named, true, error, error_size)) {
        if (refusal[0])
            snprintf(error, error_size, "%s", refusal);
        return -1;
    }
    return 0;
}

/*
 * What comes next is between all processes, and cannot do without one that dies. So they wait here until the
 * coordinator has heard of all of them. -1: it is off.
 */
static int wait_for_all(struct errand *e)
{
    member_linked(state.member, e->plan->adaptation);
    pthread_mutex_lock(&state.lock);
    while (!e->all_linked && !e->off)
        pthread_cond_wait(&state.changed, &state.lock);
    bool off = e->off;
    pthread_mutex_unlock(&state.lock);
    if (off)
        MPI_Comm_free(&e->window.intercomm);
    return off ? -1 : 0;
}

static int make(struct errand *e, char *error, size_t error_size)
{
    epop_window_t *w = &e->window;
    if (w->before == MPI_COMM_NULL) {
        snprintf(error, error_size, "this process has no thread to connect with");
        return -1;
    }
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (connect_worlds(e, error, error_size) || wait_for_all(e))
        return -1;
    else
        connecting_merge(w);
    connecting_make_after(w);
    if (w->after != MPI_COMM_NULL)
        MPI_Comm_dup(w->after, &e->next);
    return 0;
}

static void take_back(struct errand *e)
{
    const MPI_Comm made[COMMS] = {e->window.intercomm, e->window.all, e->window.after, e->next};
    memcpy(e->comms, made, sizeof made);
}

static void connect(struct errand *e)
{
    char error[200] = "";
    int failed = make(e, error, sizeof error);
    pthread_mutex_lock(&state.lock);
    bool off = e->off;
    pthread_mutex_unlock(&state.lock);
    if (!off)
        member_connected(state.member, e->plan->adaptation, failed ? error : NULL);
    else if (!failed) {
        take_back(e);
        let_go(e);
    }
}

static void begin_connecting(const cJSON *message)
{
    struct plan *plan = plan_from_json(cJSON_GetObjectItemCaseSensitive(message, "plan"));
    if (!plan)
        return;
    struct errand *e = errand_new(connect);
    e->plan = plan;
    world_window(plan, state.member->process, &e->window);
    pthread_mutex_lock(&state.lock);
    state.tried = true;
    e->window.before = state.copy;
    state.connecting = e;
    pthread_mutex_unlock(&state.lock);
    begin(e);
}

/*
 * lost: not all processes have connected, and some may be stuck in it. Then nobody disconnects the copy of the world:
 * who did would wait for those that cannot.
 */
static void give_up(bool lost)
{
    pthread_mutex_lock(&state.lock);
    struct errand *e = state.connecting;
    state.connecting = NULL;
    if (lost)
        state.copy = MPI_COMM_NULL;
    if (e && e->finished) {
        take_back(e);
        e->perform = let_go;
        begin(e);
    } else if (e) {
        e->off = true;
        pthread_cond_broadcast(&state.changed);
    }
    pthread_mutex_unlock(&state.lock);
}

static void go_on(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.connecting)
        state.connecting->all_linked = true;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

void ahead_message(const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (!strcmp(op, "connect"))
        begin_connecting(message);
    else if (!strcmp(op, "merge"))
        go_on();
    else
        give_up(json_true(message, "lost"));
}

/* ---- The window -------------------------------------------------------------------------------- */

void ahead_take(int adaptation, epop_window_t *window)
{
    pthread_mutex_lock(&state.lock);
    struct errand *e = state.connecting;
    if (!e || e->plan->adaptation != adaptation)
        plane_abort("the communicators of an adaptation were to be there, and are not");
    while (!e->finished)
        pthread_cond_wait(&state.changed, &state.lock);
    state.connecting = NULL;
    pthread_mutex_unlock(&state.lock);
    window->intercomm = e->window.intercomm;
    window->all = e->window.all;
    window->after = e->window.after;
    state.next = e->next;
    plan_free(e->plan);
    free(e);
}

void ahead_renew(MPI_Comm after)
{
    if (state.possible && after != MPI_COMM_NULL)
        MPI_Comm_dup(after, &state.next);
}

void ahead_commit(struct world *world)
{
    const epop_window_t *w = &world->window;
    struct errand *e = errand_new(disconnect);
    bool beside = state.possible && w->new_rank >= 0;
    if (beside)
        interpose_abandon(w->before);
    pthread_mutex_lock(&state.lock);
    const MPI_Comm old[COMMS] = {w->intercomm, w->before, state.copy, w->all};
    memcpy(e->comms, old, sizeof old);
    state.copy = state.next;
    state.next = MPI_COMM_NULL;
    pthread_mutex_unlock(&state.lock);
    if (beside) {
        begin(e);
        return;
    }
    disconnect(e);
    free(e);
}
