/* Re-initialization, and spawning beside the program (epop/mpi_reinit.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/mpi_reinit.h"
#include "interpose/instead.h"
#include "interpose/interpose.h"
#include "runtime/adapt/agent.h"
#include "runtime/adapt/part.h"
#include "runtime/adapt/question.h"
#include "runtime/adapt/sessions.h"
#include "runtime/base/json.h"
#include "runtime/job/job.h"
#include "runtime/psets/psets.h"

/* ---- Sessions again --------------------------------------------------------------------- */

struct place {
    int rank, size;
};

static struct place place(void)
{
    struct place here;
    struct agent_world *it = agent_world_take();
    MPI_Comm_rank(it->comm, &here.rank);
    MPI_Comm_size(it->comm, &here.size);
    agent_world_drop(it);
    return here;
}

static int prepare_session(MPIX_Session_reinit_preparation_function *prepare, MPI_Session session,
                           const struct place *here, int leave, void *userdata)
{
    INTERPOSE_ASIDE;
    return prepare ? prepare(session, here->rank, here->size, leave, userdata) : MPI_SUCCESS;
}

static int resume(MPIX_Session_reinit_resume_function *resume_fn, MPI_Session session, const struct place *old,
                  const struct place *now, void *userdata)
{
    INTERPOSE_ASIDE;
    return resume_fn ? resume_fn(session, old->rank, old->size, now->rank, now->size, userdata) : MPI_SUCCESS;
}

static void callback_failed(const char *which, int rank, int code)
{
    char text[160];
    snprintf(text, sizeof text, "rank %d: the %s callback of MPIX_Session_reinit returned %d", rank, which, code);
    epop__job_fail(text);
}

/* All of them, which are given by their addresses. */
static void finalize_sessions(MPI_Session **sessions, int count, MPIX_Session_reinit_preparation_function *prepare,
                              void *userdata, const struct place *here, int leave)
{
    for (int i = 0; i < count; i++) {
        int code = prepare_session(prepare, *sessions[i], here, leave, userdata);
        if (code != MPI_SUCCESS)
            callback_failed("preparation", here->rank, code);
    }
    for (int i = 0; i < count; i++)
        epop__instead_MPI_Session_finalize(sessions[i]);
}

static cJSON *reinit_question(int leave, MPI_Count nleave)
{
    cJSON *message = question("reinit");
    cJSON_AddBoolToObject(message, "leave", leave);
    cJSON_AddNumberToObject(message, "nleave", (double)nleave);
    question_together(message, PSETS_WORLD, "");
    return message;
}

static int check(MPI_Session **sessions, int count, MPI_Session *out)
{
    static const char function[] = "MPIX_Session_reinit";
    if (count < 1 || !sessions || !out)
        return sessions_wrong(MPI_SESSION_NULL, function, MPI_ERR_ARG,
                              "there is no session to finalize, or no place for the new one");
    int error = sessions_may_change(*sessions[0], function);
    for (int i = 0; !error && i < count; i++)
        if (!sessions_has(*sessions[i]))
            return sessions_wrong(*sessions[0], function, MPI_ERR_SESSION, "one of the sessions is none");
    if (!error && count != sessions_open())
        return sessions_wrong(*sessions[0], function, MPI_ERR_SESSION,
                              "this process has other sessions besides, which would go on in the world that ends");
    return error;
}

int epop__instead_MPIX_Session_reinit(int count, MPI_Session **session_array_in, MPI_Session *session_out,
                                      MPI_Info info, MPIX_Session_reinit_preparation_function *prep_fn,
                                      void *prep_userdata, MPIX_Session_reinit_resume_function *resume_fn,
                                      void *resume_userdata, int leave, MPI_Count nleave, int resize_allocation,
                                      MPI_Errhandler errhandler)
{
    struct error why;
    int error = check(session_array_in, count, session_out);
    (void)resize_allocation; /* who gave the hosts is told which are free in any case */
    if (error)
        return error;
    const struct place old = place();
    cJSON *answer = question_ask(reinit_question(leave, nleave), &why);
    if (!answer)
        return sessions_wrong(*session_array_in[0], "MPIX_Session_reinit", MPI_ERR_ARG, why.text);
    int adaptation = json_int(answer, "adaptation", 0);
    cJSON_Delete(answer);
    finalize_sessions(session_array_in, count, prep_fn, prep_userdata, &old, leave);
    if (adaptation)
        agent_await_change(adaptation, NULL, NULL);
    if (agent_has_left())
        sessions_leave();
    error = epop__instead_MPI_Session_init(info, errhandler, session_out);
    const struct place now = place();
    int code = error ? MPI_SUCCESS : resume(resume_fn, *session_out, &old, &now, resume_userdata);
    if (code != MPI_SUCCESS)
        callback_failed("resume", now.rank, code);
    return error;
}

/* ---- Spawning ------------------------------------------------------------------------------ */

static int spawns; /* calls of this process */

/* As it was started: by its name, or a path to the same file's name. */
static bool is_this_program(const char *command)
{
    char text[4096];
    return command && !strcmp(part_program_name(command), part_program_name(part_program_path(text, sizeof text)));
}

static void tell(MPI_Info info, const cJSON *answer)
{
    const char *status = json_text(answer, "status"), *reason = json_text(answer, "reason");
    bool busy = !strcmp(status, "requested") || !strcmp(status, "running") || !strcmp(status, "complete");
    bool asked = json_text(answer, "by") && !strcmp(json_text(answer, "by"), "system");
    info_set(info, "spawn_x_status", status);
    info_set(info, "spawn_x_available", busy ? "0" : "1");
    info_set(info, "spawn_x_reason", reason ? reason : "");
    info_set_number(info, "spawn_x_maxprocs", json_number(answer, "spawned", 0));
    info_set(info, "resize_x_requested", asked ? "1" : "0");
    info_set_number(info, "resize_x_size", json_number(answer, "size", place().size));
    info_set_number(info, "resize_x_nleave", json_number(answer, "nleave", 0));
    info_set(info, "resize_x_leave", json_true(answer, "leave") ? "1" : "0");
}

static int look(const char *function, MPI_Info *status)
{
    struct error why;
    cJSON *message = question("spawned");
    cJSON_AddNumberToObject(message, "number", spawns);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return part_wrong(function, MPI_ERR_SPAWN, why.text);
    if (*status == MPI_INFO_NULL)
        MPI_Info_create(status);
    tell(*status, answer);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

static const char *not_spawnable(const char *command, char *argv[])
{
    if (!part_has_sessions() || !sessions_open())
        return "it needs a program that began with MPI_Session_init, and has a session";
    if (!is_this_program(command))
        return "this program's own executable alone can be spawned into its job";
    if (argv != MPI_ARGV_NULL && argv[0])
        return "the processes get the job's arguments; give MPI_ARGV_NULL";
    return NULL;
}

int epop__instead_MPIX_Spawn_async(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                                   int resize_allocation, MPI_Info *status)
{
    static const char function[] = "MPIX_Spawn_async";
    char hosts[MPI_MAX_INFO_VAL + 1];
    struct error why;
    (void)resize_allocation; /* where there is room is the launcher's affair, and --hosts' */
    if (!status)
        return part_wrong(function, MPI_ERR_ARG, "status is NULL");
    *status = MPI_INFO_NULL;
    bool is_root = part_has_sessions() && place().rank == root;
    const char *reason = is_root || !part_has_sessions() ? not_spawnable(command, argv) : NULL;
    if (reason)
        return part_wrong(function, MPI_ERR_SPAWN, reason);
    spawns++;
    if (is_root) {
        cJSON *message = question("spawn");
        cJSON_AddNumberToObject(message, "add", maxprocs);
        cJSON_AddNumberToObject(message, "number", spawns);
        if (info_text(info, "hosts", hosts))
            cJSON_AddStringToObject(message, "add_hosts", hosts);
        cJSON *answer = question_ask(message, &why);
        if (!answer)
            return part_wrong(function, MPI_ERR_SPAWN, why.text);
        cJSON_Delete(answer);
    }
    return look(function, status);
}

int epop__instead_MPIX_Spawn_status(MPI_Info *status)
{
    if (!status)
        return part_wrong("MPIX_Spawn_status", MPI_ERR_ARG, "status is NULL");
    return look("MPIX_Spawn_status", status);
}
