/* Spawning processes, with or without a helper thread: see spawner.h. */
#include "runtime/backends/spawner.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/wire/messages.h"

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
} state = {.intercomm = MPI_COMM_NULL};

void spawner_set_job(const struct launcher_job *job)
{
    state.job = *job;
    if (!getcwd(state.directory, sizeof state.directory))
        state.directory[0] = 0;
    if (readlink("/proc/self/exe", state.self, sizeof state.self - 1) < 0)
        snprintf(state.self, sizeof state.self, "%s", job->argv[0]);
}

int spawner_check(struct error *error)
{
    if (access(state.self, X_OK))
        error_set(error, ERROR_FAILED, "%.120s cannot be started: %s", state.self, strerror(errno));
    else if (state.directory[0] && access(state.directory, X_OK))
        error_set(error, ERROR_FAILED, "the working directory %.120s: %s", state.directory, strerror(errno));
    else
        return 0;
    return -1;
}

/* ---- Spawning ------------------------------------------------------------------------ */

static char *describe(int adaptation, int first, const cJSON *plan)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "first", first);
    cJSON_AddNumberToObject(json, "adaptation", adaptation);
    cJSON_AddStringToObject(json, "uri", state.job.uri);
    cJSON_AddStringToObject(json, "token", state.job.token);
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
    if (state.directory[0])
        MPI_Info_set(info, "wdir", state.directory);
    return info;
}

static int spawn(MPI_Comm comm, int count, MPI_Comm *intercomm)
{
    MPI_Info info = spawn_info();
    MPI_Errhandler of_program;
    MPI_Comm_get_errhandler(comm, &of_program);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int result = MPI_Comm_spawn(state.self, state.job.argv + 1, count, info, 0, comm, intercomm, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(comm, of_program);
    MPI_Errhandler_free(&of_program);
    MPI_Info_free(&info);
    return result;
}

MPI_Comm spawner_spawn(MPI_Comm comm, int adaptation, int first, int count, const cJSON *plan, struct error *error)
{
    int rank;
    MPI_Comm intercomm;
    int result = spawn(comm, count, &intercomm);
    if (result) {
        char text[MPI_MAX_ERROR_STRING];
        int class, length;
        MPI_Error_class(result, &class);
        MPI_Error_string(class, text, &length);
        error_set(error, ERROR_FAILED, "MPI could not spawn the joining processes: %.100s", text);
        return MPI_COMM_NULL;
    }
    MPI_Comm_rank(comm, &rank);
    char *text = rank == 0 ? describe(adaptation, first, plan) : NULL;
    broadcast(intercomm, rank == 0, text);
    free(text);
    return intercomm;
}

cJSON *spawner_listen(MPI_Comm parent)
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
    state.job.tell(message);
    cJSON_Delete(message);
}

static void *perform(void *argument)
{
    struct spawn_task *task = argument;
    struct error error = {0};
    if (task->has_before)
        pthread_join(task->before, NULL);
    if (!task->drop) {
        state.intercomm = spawner_spawn(task->comm, task->adaptation, task->first, task->count, NULL, &error);
        if (state.intercomm == MPI_COMM_NULL)
            tell_failure(task->adaptation, error.text);
    }
    if ((task->drop || !task->keep) && state.intercomm != MPI_COMM_NULL)
        MPI_Comm_disconnect(&state.intercomm);
    free(task);
    return NULL;
}

static void enqueue(struct spawn_task task)
{
    struct spawn_task *copy = malloc(sizeof *copy);
    if (!copy)
        ending_abort("out of memory");
    task.before = state.last;
    task.has_before = state.has_last;
    *copy = task;
    if (thread_start(&state.last, perform, copy))
        ending_abort("cannot start the thread that spawns processes");
    state.has_last = true;
}

void spawner_begin(MPI_Comm comm, int adaptation, int first, int count, bool keep)
{
    enqueue((struct spawn_task){.comm = comm, .adaptation = adaptation, .first = first, .count = count, .keep = keep});
}

void spawner_drop(void)
{
    enqueue((struct spawn_task){.drop = true});
}

MPI_Comm spawner_take(void)
{
    if (state.has_last)
        pthread_join(state.last, NULL);
    state.has_last = false;
    MPI_Comm taken = state.intercomm;
    state.intercomm = MPI_COMM_NULL;
    return taken;
}
