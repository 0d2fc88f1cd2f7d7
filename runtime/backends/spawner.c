/* Spawning processes, with or without a helper thread: see spawner.h. */
#include "runtime/backends/spawner.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/member/json.h"
#include "runtime/plane.h"

/* What the helper thread does next. */
struct errand {
    bool drop; /* disconnect; else spawn */
    bool keep;
    MPI_Comm comm;
    int adaptation, first, count;
    pthread_t before;
    bool has_before;
};

static struct {
    struct launcher_job job;
    MPI_Comm intercomm; /* the helper thread's; MPI_COMM_NULL: none */
    pthread_t last;
    bool has_last;
} state = {.intercomm = MPI_COMM_NULL};

void spawner_set_job(const struct launcher_job *job)
{
    state.job = *job;
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

static MPI_Info where(void)
{
    char directory[MPI_MAX_INFO_VAL] = "";
    MPI_Info info;
    MPI_Info_create(&info);
    if (getcwd(directory, sizeof directory))
        MPI_Info_set(info, "wdir", directory);
    return info;
}

MPI_Comm spawner_spawn(MPI_Comm comm, int adaptation, int first, int count, const cJSON *plan)
{
    char self[4096] = "";
    int rank;
    MPI_Comm intercomm;
    MPI_Info info = where();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        snprintf(self, sizeof self, "%s", state.job.argv[0]);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_spawn(self, state.job.argv + 1, count, info, 0, comm, &intercomm, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
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
        plane_abort("out of memory");
    MPI_Bcast(text, length, MPI_CHAR, 0, parent);
    cJSON *json = cJSON_Parse(text);
    free(text);
    return json;
}

/* ---- The helper thread ----------------------------------------------------------------- */

static void *perform(void *argument)
{
    struct errand *errand = argument;
    if (errand->has_before)
        pthread_join(errand->before, NULL);
    if (!errand->drop)
        state.intercomm = spawner_spawn(errand->comm, errand->adaptation, errand->first, errand->count, NULL);
    if ((errand->drop || !errand->keep) && state.intercomm != MPI_COMM_NULL)
        MPI_Comm_disconnect(&state.intercomm);
    free(errand);
    return NULL;
}

static void enqueue(struct errand errand)
{
    struct errand *copy = malloc(sizeof *copy);
    if (!copy)
        plane_abort("out of memory");
    errand.before = state.last;
    errand.has_before = state.has_last;
    *copy = errand;
    if (pthread_create(&state.last, NULL, perform, copy))
        plane_abort("cannot start the thread that spawns processes");
    state.has_last = true;
}

void spawner_begin(MPI_Comm comm, int adaptation, int first, int count, bool keep)
{
    enqueue((struct errand){.comm = comm, .adaptation = adaptation, .first = first, .count = count, .keep = keep});
}

void spawner_drop(void)
{
    enqueue((struct errand){.drop = true});
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
