/* The thread that adapts in the place of a program with sessions alone. */
#include "runtime/adapt/agent.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/elastic.h"
#include "runtime/adapt/leaving.h"
#include "runtime/adapt/part.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/thread.h"
#include "runtime/job/job.h"
#include "runtime/launch/engine.h"
#include "runtime/member/member.h"
#include "runtime/world/world.h"

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool runs, joins, joined, left;
    bool off;      /* its joining is: the program is to end */
    bool wanted;   /* to join; under the member's lock, as quit */
    bool quit;     /* the program is through with MPI */
    int opened;    /* the last adaptation whose window is open, or was */
    int committed; /* and that this process is through */
    int awaited;   /* that the program's thread is to let go of something for; 0: none */
    struct agent_world *world;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_agent;

bool agent_is_it(void)
{
    return is_agent;
}

static void lock(void)
{
    pthread_mutex_lock(&agent.lock);
}

/* What changed here may be waited for under the member's lock, too. */
static void unlock_changed(void)
{
    pthread_cond_broadcast(&agent.changed);
    pthread_mutex_unlock(&agent.lock);
    pthread_mutex_lock(&world.member->lock);
    pthread_cond_broadcast(&world.member->changed);
    pthread_mutex_unlock(&world.member->lock);
}

/* ---- The world ------------------------------------------------------------------------- */

struct agent_world *agent_world_new(int id, MPI_Comm comm, int *processes, int size)
{
    struct agent_world *it = malloc(sizeof *it);
    if (!it)
        ending_abort("out of memory");
    *it = (struct agent_world){id, comm, MPI_GROUP_NULL, processes, size, 1};
    if (comm != MPI_COMM_NULL)
        MPI_Comm_group(comm, &it->group);
    return it;
}

struct agent_world *agent_world_take(void)
{
    lock();
    struct agent_world *present = agent.world;
    present->users++;
    pthread_mutex_unlock(&agent.lock);
    return present;
}

void agent_world_drop(struct agent_world *it)
{
    lock();
    bool last = !--it->users;
    pthread_mutex_unlock(&agent.lock);
    if (!last)
        return;
    if (it->group != MPI_GROUP_NULL)
        MPI_Group_free(&it->group);
    free(it->processes);
    free(it);
}

static void take_world(int id, MPI_Comm comm, int *processes, int size)
{
    struct agent_world *next = agent_world_new(id, comm, processes, size);
    lock();
    struct agent_world *before = agent.world;
    agent.world = next;
    unlock_changed();
    if (before)
        agent_world_drop(before);
}

static void take_first_world(void)
{
    int size = 0, *processes = NULL;
    if (!agent.joins) {
        size = world.size;
        processes = malloc((size_t)size * sizeof *processes);
        if (!processes)
            ending_abort("out of memory");
        for (int i = 0; i < size; i++)
            processes[i] = i;
    }
    take_world(0, world.comm, processes, size);
}

static void take_next_world(const epop_window_t *window)
{
    const struct plan *plan = world.plan;
    int size = plan_new_size(plan), *processes = malloc((size_t)size * sizeof *processes);
    if (!processes)
        ending_abort("out of memory");
    for (int i = 0; i < plan_total(plan); i++)
        if (plan->new_ranks[i] >= 0)
            processes[plan->new_ranks[i]] = plan->processes[i];
    take_world(plan->adaptation, window->after, processes, size);
}

/* Lets MPI move what others wait for. */
static void wait_poking(bool (*is_there)(int wanted), int wanted)
{
    int waits = 0;
    pthread_mutex_lock(&world.member->lock);
    while (!is_there(wanted) && (!world.member->finish || !agent_has_joined()))
        member_wait_poking(world.member, &waits);
    pthread_mutex_unlock(&world.member->lock);
}

static bool world_is_there(int id)
{
    lock();
    bool there = agent.world->id >= id || agent.left;
    pthread_mutex_unlock(&agent.lock);
    return there;
}

void agent_await_world(int id)
{
    wait_poking(world_is_there, id);
}

/* ---- Windows ---------------------------------------------------------------------------- */

/* The program's thread frees what it has of the old world, if it waits for this. */
static void let_program_go(int adaptation)
{
    lock();
    agent.opened = adaptation;
    unlock_changed();
    lock();
    while (agent.awaited == adaptation)
        pthread_cond_wait(&agent.changed, &agent.lock);
    pthread_mutex_unlock(&agent.lock);
}

/* For those who say where this process is. */
static void locate(void)
{
    part_locate(world.rank, world.size);
}

static void through(int adaptation, bool left)
{
    lock();
    agent.committed = adaptation;
    agent.joined = true;
    agent.left = left;
    unlock_changed();
}

static void await_end_of_program(void)
{
    pthread_mutex_lock(&world.member->lock);
    while (!agent.quit && !world.member->finish)
        pthread_cond_wait(&world.member->changed, &world.member->lock);
    pthread_mutex_unlock(&world.member->lock);
}

/* Who leaves closes its connections in the commit, and waits until the others have: what the program has made of them
 * is gone before, when its sessions are. The others do not wait for that. */
static void leave(const struct elastic *e, int adaptation)
{
    struct error unheard;
    through(adaptation, true);
    await_end_of_program();
    leaving_commits();
    epop_adapt_commit();
    e->window_close(e->context, &unheard);
}

/* Of a plan that is there. False: it is off everywhere. */
static bool go_through(const struct elastic *e)
{
    struct error unheard;
    epop_window_t window;
    if (e->window_open(e->context, &unheard) || epop_adapt_begin(&window))
        return false;
    int adaptation = world.plan->adaptation;
    let_program_go(adaptation);
    take_next_world(&window);
    if (window.status == EPOP_LEAVING) {
        leave(e, adaptation);
        return true;
    }
    epop_adapt_commit();
    e->window_close(e->context, &unheard);
    locate();
    through(adaptation, false);
    return true;
}

static bool reached(const int *step, int adaptation)
{
    lock();
    bool is = *step >= adaptation;
    pthread_mutex_unlock(&agent.lock);
    return is;
}

/* With the member's lock. */
static bool opened_or_off(int adaptation)
{
    return reached(&agent.opened, adaptation) || world.member->off >= adaptation;
}

static bool committed_or_off(int adaptation)
{
    return reached(&agent.committed, adaptation) || world.member->off >= adaptation;
}

static void await_opening(int adaptation, bool awaits)
{
    lock();
    agent.awaited = awaits && agent.opened < adaptation ? adaptation : 0;
    unlock_changed();
}

bool agent_await_change(int adaptation, void (*opened)(void *context), void *context)
{
    await_opening(adaptation, true);
    wait_poking(opened_or_off, adaptation);
    if (opened && reached(&agent.opened, adaptation))
        opened(context);
    await_opening(adaptation, false);
    wait_poking(committed_or_off, adaptation);
    return reached(&agent.committed, adaptation);
}

static bool has_joined_or_is_off(int unused)
{
    (void)unused;
    lock();
    bool off = agent.off;
    pthread_mutex_unlock(&agent.lock);
    return off || agent_has_joined();
}

static bool has_left(int unused)
{
    (void)unused;
    return agent_has_left();
}

/* The word that it is off may be here before the agent has heard it. */
static bool is_called_off(void)
{
    pthread_mutex_lock(&world.member->lock);
    bool off = world.member->cancelled || world.member->finish;
    pthread_mutex_unlock(&world.member->lock);
    return off;
}

void agent_end_if_off(void)
{
    if (agent_has_joined() || !is_called_off())
        return;
    wait_poking(has_joined_or_is_off, 0);
    if (agent_has_joined())
        return;
    fflush(NULL);
    epop__job_leave();
}

void agent_await_joining(void)
{
    wait_poking(has_joined_or_is_off, 0);
    agent_end_if_off();
}

void agent_await_leaving(void)
{
    wait_poking(has_left, 0);
}

bool agent_has_left(void)
{
    lock();
    bool left = agent.left;
    pthread_mutex_unlock(&agent.lock);
    return left;
}

/* ---- Joining ------------------------------------------------------------------------------ */

static bool wanted_or_quit(bool *ends)
{
    struct member *member = world.member;
    pthread_mutex_lock(&member->lock);
    while (!agent.wanted && !agent.quit && !member->cancelled && !member->finish)
        pthread_cond_wait(&member->changed, &member->lock);
    bool wanted = agent.wanted;
    *ends = agent.quit;
    pthread_mutex_unlock(&member->lock);
    return wanted;
}

/* It ends in its next question, or by itself: where others that were to join are in MPI with it they would be hit. */
static void be_off(void)
{
    lock();
    agent.off = true;
    unlock_changed();
    pthread_mutex_lock(&world.member->lock);
    while (!agent.quit)
        pthread_cond_wait(&world.member->changed, &world.member->lock);
    pthread_mutex_unlock(&world.member->lock);
}

/* A process whose joining is off has nothing to do in the world. */
static bool join(const struct elastic *e)
{
    struct position at;
    bool ends, wanted = wanted_or_quit(&ends);
    const char *failure = wanted ? NULL : "the joining process came to its end before it had joined";
    if (e->join(e->context, failure, &at) && go_through(e))
        return true;
    if (!ends)
        be_off();
    epop__job_detach();
    engine()->finalize();
    return false;
}

void agent_let_join(void)
{
    if (agent.joins)
        member_wake(world.member, &agent.wanted);
}

bool agent_has_joined(void)
{
    lock();
    bool joined = agent.joined || !agent.joins;
    pthread_mutex_unlock(&agent.lock);
    return joined;
}

bool agent_has_world(void)
{
    lock();
    bool has = !agent.joins || agent.world->id > 0;
    pthread_mutex_unlock(&agent.lock);
    return has;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* All processes are told at once, wherever the program's thread is: so handlers of atexit cannot run. */
static void stop(void)
{
    fflush(NULL);
    epop__job_ended();
    part_end();
    engine_done(); /* its sessions are still there */
    ending_quit(part_others_status());
}

static void hold(const struct elastic *e, int64_t count)
{
    enum action action = part_hold(e, count);
    if (action == ACTION_STOP)
        stop();
    if (action == ACTION_ADAPT)
        go_through(e);
}

static void *run(void *unused)
{
    const struct elastic *e = epop__job_elastic();
    is_agent = true;
    if (agent.joins && !join(e))
        return unused;
    part_become(PART_MEMBER);
    locate();
    while (!agent_has_left() && member_idle(world.member, &agent.quit))
        if (ceiling_probe(e->ceiling))
            hold(e, (int64_t)ceiling_count(e->ceiling));
    if (agent_has_left())
        part_depart();
    return unused;
}

void agent_start(bool joins)
{
    agent.joins = joins;
    take_first_world();
    agent.runs = true;
    if (thread_start(&agent.thread, run, NULL))
        ending_abort("cannot start the thread that adapts");
}

void agent_stop(void)
{
    lock();
    bool runs = agent.runs;
    agent.runs = false;
    pthread_mutex_unlock(&agent.lock);
    if (!runs)
        return;
    member_wake(world.member, &agent.quit);
    pthread_join(agent.thread, NULL);
}
