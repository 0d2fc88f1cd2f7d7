/* The spawn backend, from the call of MPI_Comm_spawn, with or without a helper thread, to its hooks. */
#include "runtime/backends/spawn.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/backends/connecting.h"
#include "runtime/backends/device.h"
#include "runtime/backends/gathering.h"
#include "runtime/backends/launcher.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"
#include "runtime/launch/engine.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

/* ---- The call of MPI_Comm_spawn ----------------------------------------------------------------- */

/*
 * And what the new processes are told then. With a helper thread: tasks one after the other, each a thread that waits
 * for the one before, so that nobody but the window waits for them.
 */

/* What the helper thread does next. */
struct spawn_task {
    bool drop; /* disconnect; else spawn */
    bool keep;
    MPI_Comm comm;
    int adaptation, first, count;
    pthread_t before;
    bool has_before;
};

static struct {
    struct launcher_job job;
    char directory[MPI_MAX_INFO_VAL], self[4096];
    MPI_Comm intercomm; /* the helper thread's; MPI_COMM_NULL: none */
    pthread_t last;
    bool has_last;
} spawner = {.intercomm = MPI_COMM_NULL};

/* Is what would be spawned there? 0, or -1 with the reason: the process manager does not tell. Local; any thread. */
static int spawner_check(struct error *error)
{
    if (access(spawner.self, X_OK))
        error_set(error, ERROR_FAILED, "%.120s cannot be started: %s", spawner.self, strerror(errno));
    else if (spawner.directory[0] && access(spawner.directory, X_OK))
        error_set(error, ERROR_FAILED, "the working directory %.120s: %s", spawner.directory, strerror(errno));
    else
        return 0;
    return -1;
}

static char *describe_spawned(int adaptation, int first, const cJSON *plan)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "first", first);
    cJSON_AddNumberToObject(json, "adaptation", adaptation);
    cJSON_AddStringToObject(json, "uri", spawner.job.uri);
    cJSON_AddStringToObject(json, "token", spawner.job.token);
    if (plan)
        cJSON_AddItemToObject(json, "plan", cJSON_Duplicate(plan, 1));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static void broadcast(MPI_Comm intercomm, bool root, const char *text)
{
    int length = text ? (int)strlen(text) + 1 : 0, from = root ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&length, 1, MPI_INT, from, intercomm);
    MPI_Bcast((void *)text, length, MPI_CHAR, from, intercomm);
}

static MPI_Info spawn_info(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (spawner.directory[0])
        MPI_Info_set(info, "wdir", spawner.directory);
    return info;
}

static int call_spawn(MPI_Comm comm, int count, MPI_Comm *intercomm)
{
    MPI_Info info = spawn_info();
    MPI_Errhandler of_program;
    MPI_Comm_get_errhandler(comm, &of_program);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int result =
        MPI_Comm_spawn(spawner.self, spawner.job.argv + 1, count, info, 0, comm, intercomm, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(comm, of_program);
    MPI_Errhandler_free(&of_program);
    MPI_Info_free(&info);
    return result;
}

/* Spawns `count` processes with numbers from `first` on. plan: for joiners that come in the window, else NULL.
 * Collective over comm; its rank 0 is the root. MPI_COMM_NULL with one line of text if MPI could not. */
static MPI_Comm spawner_spawn(MPI_Comm comm, int adaptation, int first, int count, const cJSON *plan,
                              struct error *error)
{
    int rank;
    MPI_Comm intercomm;
    int result = call_spawn(comm, count, &intercomm);
    if (result) {
        char text[MPI_MAX_ERROR_STRING];
        int class, length;
        MPI_Error_class(result, &class);
        MPI_Error_string(class, text, &length);
        error_set(error, ERROR_FAILED, "MPI could not spawn the joining processes: %.100s", text);
        return MPI_COMM_NULL;
    }
    MPI_Comm_rank(comm, &rank);
    char *text = rank == 0 ? describe_spawned(adaptation, first, plan) : NULL;
    broadcast(intercomm, rank == 0, text);
    free(text);
    return intercomm;
}

/* The other side: reads what the spawning ranks tell. The JSON is the caller's. Collective over the spawned. */
static cJSON *spawner_listen(MPI_Comm parent)
{
    int length;
    MPI_Bcast(&length, 1, MPI_INT, 0, parent);
    char *text = calloc((size_t)length + 1, 1);
    if (!text)
        ending_abort("out of memory");
    MPI_Bcast(text, length, MPI_CHAR, 0, parent);
    cJSON *json = cJSON_Parse(text);
    free(text);
    return json;
}

/* ---- The helper thread ----------------------------------------------------------------- */

static void tell_failure(int adaptation, const char *reason)
{
    cJSON *message = json_message(REPORT(unstarted));
    cJSON_AddNumberToObject(message, "adaptation", adaptation);
    cJSON_AddStringToObject(message, "failure", reason);
    spawner.job.tell(message);
    cJSON_Delete(message);
}

static void *perform(void *argument)
{
    struct spawn_task *task = argument;
    struct error error = {0};
    if (task->has_before)
        pthread_join(task->before, NULL);
    if (!task->drop) {
        spawner.intercomm = spawner_spawn(task->comm, task->adaptation, task->first, task->count, NULL, &error);
        if (spawner.intercomm == MPI_COMM_NULL)
            tell_failure(task->adaptation, error.text);
    }
    if ((task->drop || !task->keep) && spawner.intercomm != MPI_COMM_NULL)
        MPI_Comm_disconnect(&spawner.intercomm);
    free(task);
    return NULL;
}

static void enqueue(struct spawn_task task)
{
    struct spawn_task *copy = malloc(sizeof *copy);
    if (!copy)
        ending_abort("out of memory");
    task.before = spawner.last;
    task.has_before = spawner.has_last;
    *copy = task;
    if (thread_start(&spawner.last, perform, copy))
        ending_abort("cannot start the thread that spawns processes");
    spawner.has_last = true;
}

/* Has the helper thread spawn over comm. keep: the intercommunicator stays, for spawner_take or spawner_drop; else it
 * is disconnected at once. The coordinator is told if MPI could not. Local; any thread, one at a time. */
static void spawner_begin(MPI_Comm comm, int adaptation, int first, int count, bool keep)
{
    enqueue((struct spawn_task){.comm = comm, .adaptation = adaptation, .first = first, .count = count, .keep = keep});
}

/* The joining is off: has the helper thread disconnect. Local. */
static void spawner_drop(void)
{
    enqueue((struct spawn_task){.drop = true});
}

/* Waits for the helper thread; the intercommunicator is the caller's then. */
static MPI_Comm spawner_take(void)
{
    if (spawner.has_last)
        pthread_join(spawner.last, NULL);
    spawner.has_last = false;
    MPI_Comm taken = spawner.intercomm;
    spawner.intercomm = MPI_COMM_NULL;
    return taken;
}

/* ---- The backend -------------------------------------------------------------------------------- */

static struct {
    struct spawn_options options;
    MPI_Comm parent; /* of a spawned process, until it is in the world */
    MPI_Comm helper; /* the helper threads' copy of what they spawn over; only with them */
    int slots;       /* for processes of the job (mpiexec -usize), to be counted here; 0: no limit, or none of ours */
} state = {.parent = MPI_COMM_NULL, .helper = MPI_COMM_NULL};

static bool is_single(void)
{
    return state.options.strategy == SPAWN_SINGLE;
}

void spawn_init(const struct spawn_options *options)
{
    state.options = *options;
}

/* The present directory is that of the processes that will be spawned. */
void spawn_set_job(const struct launcher_job *job)
{
    spawner.job = *job;
    if (!getcwd(spawner.directory, sizeof spawner.directory))
        spawner.directory[0] = 0;
    if (readlink("/proc/self/exe", spawner.self, sizeof spawner.self - 1) < 0)
        snprintf(spawner.self, sizeof spawner.self, "%s", job->argv[0]);
}

/* ---- The coordinator's thread -------------------------------------------------------- */

/* The process manager itself would start more. */
static bool slots_suffice(const struct coordinator *c, int joining, struct error *error)
{
    int taken = 0;
    for (int p = 0; p < processes_count(c); p++)
        taken += processes_state(c, p) != PROCESS_GONE;
    if (!state.slots || taken + joining <= state.slots)
        return true;
    error_set(error, ERROR_FAILED, "not enough slots: %d more processes beside %d are more than mpiexec's -usize %d",
              joining, taken, state.slots);
    return false;
}

static int spawn_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    if (hosts) {
        error_set(error, ERROR_FAILED, "the backend 'spawn' does not choose hosts; take --backend join for that");
        return -1;
    }
    if (!slots_suffice(c, a->joining, error) || spawner_check(error))
        return -1;
    int first = processes_add(c, a->joining, a->id);
    if (first < 0) {
        return error_memory(error);
    }
    for (int j = 0; j < a->joining; j++)
        a->joiners[j] = first + j;
    return 0;
}

/* Those whose helper threads spawn. */
static void tell_helpers(struct coordinator *c, cJSON *message)
{
    if (is_single())
        processes_send(c, processes_of_rank(c, 0), message);
    else
        processes_send_world(c, message);
}

static bool spawn_start(struct coordinator *c, const struct adaptation *a)
{
    cJSON *message = json_message(ORDER(spawn));
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    cJSON_AddNumberToObject(message, "first", a->joiners[0]);
    cJSON_AddNumberToObject(message, "count", a->joining);
    tell_helpers(c, message);
    return true;
}

/* Called off before the window, in which the ranks tell each other. */
static void spawn_cancel(struct coordinator *c, const struct adaptation *a)
{
    for (int j = 0; j < a->joining; j++)
        processes_send(c, a->joiners[j], json_message(ORDER(call_off)));
    tell_helpers(c, json_message(ORDER(spawn_off)));
}

static struct backend_ways spawn_ways(void)
{
    return (struct backend_ways){.late = !state.options.async, .replaces = state.options.method == SPAWN_BASELINE};
}

/* ---- The control thread of each rank ---------------------------------------------------- */

static void on_spawn(void *context, const struct order_spawn *order)
{
    (void)context;
    spawner_begin(state.helper, order->adaptation, order->first, order->count, !is_single());
}

static void on_spawn_off(void *context, const struct order_spawn_off *order)
{
    (void)context, (void)order;
    if (!is_single())
        spawner_drop();
}

TAKES(order, spawn, on_spawn)
TAKES(order, spawn_off, on_spawn_off)

static const struct message_row messages[] = {
    {order_spawn_id, order_spawn_taken},
    {order_spawn_off_id, order_spawn_off_taken},
};

/* ---- Every process's own thread ------------------------------------------------------ */

static int spawn_available(struct error *reason)
{
    int provided;
    MPI_Query_thread(&provided);
    if (state.options.async && provided < MPI_THREAD_MULTIPLE) {
        return error_set(reason, ERROR_FAILED,
                         "--spawn-async needs MPI_THREAD_MULTIPLE, which this MPI library does not give");
    }
    return connecting_available(reason);
}

static void renew_helper(MPI_Comm world)
{
    if (state.helper != MPI_COMM_NULL)
        MPI_Comm_disconnect(&state.helper);
    if (state.options.async && world != MPI_COMM_NULL)
        MPI_Comm_dup(is_single() ? MPI_COMM_SELF : world, &state.helper);
}

static void count_slots(void)
{
    int *value, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    state.slots = !engine()->counts && found && *value > 0 ? *value : 0;
}

static MPI_Comm spawn_first_world(struct world *world, int size)
{
    MPI_Comm comm;
    (void)size; /* all of the launch: this backend lends none */
    MPI_Comm_dup(world->launch, &comm);
    renew_helper(comm);
    count_slots();
    return comm;
}

static MPI_Comm spawn_joiners_world(struct world *world, const struct gathering *joiners)
{
    MPI_Comm comm;
    (void)joiners;
    MPI_Comm_dup(world->launch, &comm);
    return comm;
}

/* Joiners that come before the window tell their port to the coordinator; late ones tell it to the ranks. */
static char *spawn_port(void)
{
    return is_single() && state.options.async ? connecting_port(0) : NULL;
}

/* All spawn: the intercommunicator is there, it has only to be merged. */
static int merge_spawned(struct world *world, struct error *error)
{
    epop_window_t *w = &world->window;
    const struct plan *plan = world->plan;
    if (w->status == EPOP_JOINING) {
        w->intercomm = state.parent;
        state.parent = MPI_COMM_NULL;
    } else if (state.options.async) {
        w->intercomm = spawner_take();
    } else {
        cJSON *json = plan_to_json(plan);
        w->intercomm =
            spawner_spawn(w->before, plan->adaptation, plan->processes[plan->old_size], plan->joining, json, error);
        cJSON_Delete(json);
    }
    if (w->intercomm == MPI_COMM_NULL)
        return -1;
    MPI_Intercomm_merge(w->intercomm, w->status == EPOP_JOINING, &w->all);
    return 0;
}

/* The port of late joiners, on rank 0 of both sides: from the first joiner to the rank that spawned it. Collective over
 * either side: 0, or -1 with text where it could not spawn. */
static int exchange_port(struct world *world, char port[PORT_MOST], struct error *error)
{
    struct error failure = {0};
    const struct plan *plan = world->plan;
    if (world->window.status == EPOP_JOINING) {
        if (world->rank == 0) {
            char *opened = connecting_port(0);
            snprintf(port, PORT_MOST, "%s", opened ? opened : "");
            free(opened);
            MPI_Send(port, PORT_MOST, MPI_CHAR, 0, 0, state.parent);
        }
        MPI_Comm_disconnect(&state.parent);
        return 0;
    }
    if (world->rank == 0) {
        cJSON *json = plan_to_json(plan);
        MPI_Comm intercomm = spawner_spawn(MPI_COMM_SELF, plan->adaptation, plan->processes[plan->old_size],
                                           plan->joining, json, &failure);
        cJSON_Delete(json);
        if (intercomm != MPI_COMM_NULL) {
            MPI_Recv(port, PORT_MOST, MPI_CHAR, 0, 0, intercomm, MPI_STATUS_IGNORE);
            MPI_Comm_disconnect(&intercomm);
        }
    }
    MPI_Bcast(&failure, sizeof failure, MPI_BYTE, 0, world->window.before);
    if (!failure.code)
        return 0;
    *error = failure;
    return -1;
}

/* One spawns, the others connect. */
static int meet_spawned(struct world *world, struct error *error)
{
    char port[PORT_MOST] = "";
    if (state.options.async) {
        snprintf(port, sizeof port, "%s", world->plan->port ? world->plan->port : "");
        if (world->rank == 0 && world->window.status != EPOP_JOINING)
            spawner_take();
    } else if (exchange_port(world, port, error)) {
        return -1;
    }
    return connecting_meet(world, port, error);
}

/* Could all joiners start? The first that could not tells why. */
static int agree_on_start(struct world *world, struct error *error)
{
    epop_window_t *w = &world->window;
    char text[200] = "";
    int rank, size, first;
    MPI_Comm_rank(w->all, &rank);
    MPI_Comm_size(w->all, &size);
    int mine = world->failure ? rank : size;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, w->all);
    if (first == size)
        return 0;
    if (world->failure)
        snprintf(text, sizeof text, "%s", world->failure);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, w->all);
    error_set(error, ERROR_FAILED, "a joining process could not start: %.160s", text);
    MPI_Comm_disconnect(&w->all);
    MPI_Comm_disconnect(&w->intercomm);
    return -1;
}

static int spawn_connect(struct world *world, struct error *error)
{
    epop_window_t *w = &world->window;
    if (!w->joining)
        MPI_Comm_dup(w->before, &w->all);
    else if (is_single() ? meet_spawned(world, error) : merge_spawned(world, error))
        return -1;
    if (w->joining && agree_on_start(world, error))
        return -1;
    if (w->staying)
        connecting_make_after(w);
    else if (w->status == EPOP_JOINING)
        MPI_Comm_dup(w->before, &w->after); /* the joiners' own world, which has no connection to those that leave */
    return 0;
}

static void spawn_commit(struct world *world)
{
    connecting_commit(world);
    renew_helper(world->window.after);
}

static void spawn_abandon(void)
{
    if (state.parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&state.parent);
}

/* ---- In a spawned process --------------------------------------------------------------- */

bool spawn_joining(struct joining *joining)
{
    MPI_Comm_get_parent(&state.parent);
    if (state.parent == MPI_COMM_NULL)
        return false;
    cJSON *json = spawner_listen(state.parent);
    joining->first = json_int(json, "first", 0);
    joining->wake = json_message(ORDER(wake));
    cJSON_AddNumberToObject(joining->wake, "adaptation", json_int(json, "adaptation", 0));
    snprintf(joining->uri, sizeof joining->uri, "%s", json_text(json, "uri"));
    snprintf(joining->token, sizeof joining->token, "%s", json_text(json, "token"));
    joining->plan = cJSON_DetachItemFromObjectCaseSensitive(json, "plan");
    cJSON_Delete(json);
    if (is_single() && state.options.async)
        MPI_Comm_disconnect(&state.parent);
    return true;
}

const struct backend backend_spawn = {
    .name = "spawn",
    .leavers = LEAVERS_END,
    .connects = CONNECTS_OR_NOT,
    .ways = spawn_ways,
    .available = spawn_available,
    .choose = spawn_choose,
    .start = spawn_start,
    .cancel = spawn_cancel,
    .first_world = spawn_first_world,
    .joiners_world = spawn_joiners_world,
    .port = spawn_port,
    .connect = spawn_connect,
    .commit = spawn_commit,
    .messages = messages,
    .message_count = sizeof messages / sizeof *messages,
    .abandon = spawn_abandon,
};
