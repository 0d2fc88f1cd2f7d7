/*
 * The pool: processes of the launch stand by, join, leave into standby and join again. Works on every MPI library.
 * Process numbers are ranks of the launch, so that a window's communicators are made from it by groups.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/backends/gathering.h"
#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/releases.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

/* ---- The coordinator's thread -------------------------------------------------- */

enum readiness { NOT_AT_ALL, LATER, AT_ONCE };

/* One that is not in standby yet, or not attached, may well be soon; or it hangs in an INIT that was called off. */
static enum readiness can_join(const struct coordinator *c, int process, const char *hosts)
{
    enum process_state state = processes_state(c, process);
    bool attached = processes_is_attached(c, process);
    if ((state != PROCESS_STANDBY && state != PROCESS_RETURNING) ||
        (hosts && !(attached && hostlist_has(hosts, processes_host(c, process)))))
        return NOT_AT_ALL;
    return state == PROCESS_STANDBY && attached ? AT_ONCE : LATER;
}

static void explain(const struct coordinator *c, int needed, int found, const char *hosts, struct error *error)
{
    int spent = 0;
    for (int p = 0; p < processes_count(c); p++)
        spent += processes_state(c, p) == PROCESS_SPENT;
    error_set(error, ERROR_FAILED, "%d more process%s needed, but %d stand%s by%s%.60s", needed,
              needed == 1 ? " is" : "es are", found, found == 1 ? "s" : "", hosts ? " on " : "", hosts ? hosts : "");
    if (spent)
        error_set(error, ERROR_FAILED,
                  "%s; %d that left cannot join again: the program's shared object could not be unloaded from memory",
                  error->text, spent);
}

static int pool_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    int found = 0;
    for (enum readiness wanted = AT_ONCE; wanted > NOT_AT_ALL; wanted--)
        for (int p = 0; p < processes_count(c) && found < a->joining; p++)
            if (can_join(c, p, hosts) == wanted)
                a->joiners[found++] = p;
    if (found == a->joining)
        return 0;
    explain(c, a->joining, found, hosts, error);
    return -1;
}

/* They start together: one that started early would wait for the others, spinning. */
static bool pool_start(struct coordinator *c, const struct adaptation *a)
{
    for (int j = 0; j < a->joining; j++)
        if (can_join(c, a->joiners[j], NULL) != AT_ONCE)
            return false;
    cJSON *message = json_message(ORDER(wake));
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    cJSON_AddItemToObject(message, "joiners", cJSON_CreateIntArray(a->joiners, a->joining));
    processes_send_all(c, a->joiners, a->joining, message);
    cJSON_Delete(message);
    return true;
}

static void pool_cancel(struct coordinator *c, const struct adaptation *a)
{
    for (int j = 0; j < a->joining; j++)
        processes_send(c, a->joiners[j], json_message(ORDER(call_off)));
}

static int pool_available(struct error *reason)
{
    (void)reason;
    return 0;
}

/* ---- Every process's own thread ------------------------------------------------ */

/* The communicator of `count` processes of the launch, in that order. Collective over them. */
static MPI_Comm communicator(const struct world *world, const int *processes, int count, int tag)
{
    MPI_Group launch, group;
    MPI_Comm comm;
    MPI_Comm_group(world->launch, &launch);
    MPI_Group_incl(launch, count, processes, &group);
    MPI_Comm_create_group(world->launch, group, tag, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&launch);
    return comm;
}

/* Tags keep two groups apart that are made at the same time: joiners of a next adaptation and the present window. */
static int tag_of(int adaptation, int purpose)
{
    return (adaptation * 4 + purpose) & 0x7fff;
}

static MPI_Comm pool_first_world(struct world *world, int size)
{
    int *processes = malloc((size_t)size * sizeof *processes);
    if (!processes)
        return MPI_COMM_NULL;
    for (int p = 0; p < size; p++)
        processes[p] = p;
    MPI_Comm comm = communicator(world, processes, size, tag_of(0, 0));
    free(processes);
    return comm;
}

static MPI_Comm pool_joiners_world(struct world *world, const struct gathering *joiners)
{
    return communicator(world, joiners->processes, joiners->count, tag_of(joiners->adaptation, 0));
}

static char *pool_port(void)
{
    return NULL;
}

static MPI_Comm new_world(const struct world *world)
{
    const struct plan *plan = world->plan;
    int size = plan_new_size(plan);
    int *processes = malloc((size_t)size * sizeof *processes);
    if (!processes)
        return MPI_COMM_NULL;
    for (int i = 0; i < plan_total(plan); i++)
        if (plan->new_ranks[i] >= 0)
            processes[plan->new_ranks[i]] = plan->processes[i];
    MPI_Comm comm = communicator(world, processes, size, tag_of(plan->adaptation, 2));
    free(processes);
    return comm;
}

static int pool_connect(struct world *world, struct error *error)
{
    const struct plan *plan = world->plan;
    epop_window_t *w = &world->window;
    w->all = communicator(world, plan->processes, plan_total(plan), tag_of(plan->adaptation, 1));
    if (w->new_rank >= 0)
        w->after = new_world(world);
    if (plan->joining) {
        int remote_leader = w->status == EPOP_JOINING ? 0 : plan->old_size;
        MPI_Intercomm_create(w->before, 0, w->all, remote_leader, tag_of(plan->adaptation, 3), &w->intercomm);
    }
    if (w->new_rank >= 0 && w->after == MPI_COMM_NULL) {
        return error_memory(error);
    }
    return 0;
}

static void pool_commit(struct world *world)
{
    epop_window_t *w = &world->window;
    if (w->intercomm != MPI_COMM_NULL)
        MPI_Comm_free(&w->intercomm);
    MPI_Comm_free(&w->all);
    MPI_Comm_free(&w->before);
}

const struct backend backend_pool = {
    .name = "pool",
    .merit = "it works with every MPI library",
    .leavers = LEAVERS_STAND_BY,
    .connects = CONNECTS_ALWAYS,
    .available = pool_available,
    .choose = pool_choose,
    .start = pool_start,
    .cancel = pool_cancel,
    .first_world = pool_first_world,
    .joiners_world = pool_joiners_world,
    .port = pool_port,
    .connect = pool_connect,
    .commit = pool_commit,
};
