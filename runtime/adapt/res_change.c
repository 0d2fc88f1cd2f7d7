/* Resource changes by process sets, in the program's hand: the first four calls of epop/mpi_psets.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/mpi_psets.h"
#include "interpose/instead.h"
#include "runtime/adapt/agent.h"
#include "runtime/adapt/question.h"
#include "runtime/adapt/sessions.h"
#include "runtime/base/json.h"
#include "runtime/psets/psets.h"

static void copy_name(char *to, const char *name)
{
    snprintf(to, MPI_MAX_PSET_NAME_LEN, "%s", name ? name : "");
}

/* ---- Phase 1 ------------------------------------------------------------------------- */

static MPI_rc_status_t status_of(const char *state)
{
    static const char *const names[] = {"NULL", "ANNOUNCED", "PENDING", "FINALIZED", "ABORTED"};
    for (int i = 0; state && i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(state, names[i]))
            return i;
    return MPI_RC_STATUS_NULL;
}

static MPI_rc_type type_of(const char *kind)
{
    static const char *const names[] = {"NULL", "ADD", "SUB", "REPLACE"};
    for (int i = 0; kind && i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(kind, names[i]))
            return i;
    return MPI_RC_NULL;
}

static void tell_both(MPI_Info *info, const cJSON *answer)
{
    const char *added = json_text(answer, "added"), *taken = json_text(answer, "taken");
    if (!info || !added || !taken)
        return;
    if (*info == MPI_INFO_NULL)
        MPI_Info_create(info);
    info_set(*info, MPI_RC_ADD_PSET, added);
    info_set(*info, MPI_RC_SUB_PSET, taken);
}

int epop__instead_MPI_Session_get_res_change(MPI_Session session, MPI_rc_type *rc_type, char delta_pset[], bool *incl,
                                             MPI_rc_status_t *status, MPI_Info *info)
{
    static const char function[] = "MPI_Session_get_res_change";
    char bound[MPI_MAX_INFO_VAL + 1];
    struct error why;
    int error = sessions_may_change(session, function);
    if (error)
        return error;
    if (!rc_type || !delta_pset || !incl || !status)
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its arguments is NULL");
    cJSON *message = question("change");
    if (info && info_text(*info, MPI_RC_BOUND_PSET, bound))
        question_name(message, "bound", bound);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_OTHER, why.text);
    *rc_type = type_of(json_text(answer, "kind"));
    *status = status_of(json_text(answer, "state"));
    *incl = json_true(answer, "included");
    copy_name(delta_pset, json_text(answer, "delta"));
    tell_both(info, answer);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

/* ---- Phase 2 ------------------------------------------------------------------------- */

static bool is_yes(const char *text)
{
    return !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "1");
}

static void add_attributes(cJSON *message, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    cJSON *all = info_to_json(info), *sched = cJSON_AddObjectToObject(message, "sched");
    const cJSON *item;
    if (info_text(info, MPI_PSET_TARGET, text))
        cJSON_AddStringToObject(message, "target", text);
    if (info_text(info, "mpi_ps_active", text))
        cJSON_AddBoolToObject(message, "active", is_yes(text));
    cJSON_ArrayForEach(item, all)
    {
        if (!strncmp(item->string, "mpi_ps_sched_", 13))
            cJSON_AddStringToObject(sched, item->string, item->valuestring);
    }
    cJSON_Delete(all);
}

int epop__instead_MPI_Session_pset_create_op(MPI_Session session, MPI_Info info, MPI_pset_op op, const char *pset1,
                                             const char *pset2, char *pset_result)
{
    static const char function[] = "MPI_Session_pset_create_op";
    struct error why;
    int count;
    if (!sessions_has(session))
        return sessions_wrong(session, function, MPI_ERR_SESSION, "that is no session");
    if (!pset_result || (op != MPI_PSETOP_NULL && (!pset1 || !pset2)))
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its process sets is NULL");
    cJSON *message = question("op");
    cJSON_AddNumberToObject(message, "type", op);
    if (op != MPI_PSETOP_NULL) {
        question_name(message, "a", pset1);
        question_name(message, "b", pset2);
    }
    add_attributes(message, info);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    char **names = answer_sets(answer, &count);
    copy_name(pset_result, count ? names[0] : "");
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

/* ---- Phase 3 ------------------------------------------------------------------------- */

/* What root has heard, for all. */
struct acceptance {
    int result; /* MPI_SUCCESS: it goes on; MPI_ERR_PENDING, MPI_ERR_PORT, MPI_ERR_ARG */
    int adaptation, takes;
    char delta[MPI_MAX_PSET_NAME_LEN], next[MPI_MAX_PSET_NAME_LEN], why[200];
};

static void hear(const cJSON *answer, struct acceptance *a)
{
    const char *state = json_text(answer, "state");
    a->adaptation = json_int(answer, "adaptation", 0);
    a->takes = json_true(answer, "takes");
    a->result = !strcmp(state, "GO") ? MPI_SUCCESS : !strcmp(state, "PENDING") ? MPI_ERR_PENDING : MPI_ERR_PORT;
}

static void ask_as_root(MPI_Info info, const char *delta, const char *next, struct acceptance *a)
{
    char seconds[MPI_MAX_INFO_VAL + 1];
    struct error why;
    copy_name(a->delta, delta);
    copy_name(a->next, next);
    cJSON *message = question("accept");
    cJSON_AddStringToObject(message, "delta", delta);
    question_name(message, "next", next);
    cJSON_AddNumberToObject(message, "limit", info_text(info, MPI_RC_TIMEOUT, seconds) ? atof(seconds) : 0);
    cJSON *answer = question_ask(message, &why);
    if (answer) {
        hear(answer, a);
    } else {
        a->result = MPI_ERR_ARG;
        snprintf(a->why, sizeof a->why, "%.199s", why.text);
    }
    cJSON_Delete(answer);
}

/* Those that leave must let go of the others, and these of them. */
static void let_go(void *comm)
{
    MPI_Comm_disconnect(comm);
}

static int complete(const struct acceptance *a, MPI_Comm comm, int *terminate)
{
    if (!agent_await_change(a->adaptation, a->takes ? let_go : NULL, &comm))
        return MPI_ERR_PORT;
    *terminate = agent_has_left();
    return MPI_SUCCESS;
}

int epop__instead_MPI_Session_accept_res_change(MPI_Session session, MPI_Info info, char *delta_pset, char *new_pset,
                                                int root, MPI_Comm comm, int *terminate)
{
    static const char function[] = "MPI_Session_accept_res_change";
    struct acceptance a = {.result = MPI_ERR_ARG};
    int rank, error = sessions_may_change(session, function);
    if (error)
        return error;
    if (!delta_pset || !new_pset || !terminate)
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its arguments is NULL");
    *terminate = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == root)
        ask_as_root(info, delta_pset, new_pset, &a);
    error = MPI_Bcast(&a, sizeof a, MPI_BYTE, root, comm);
    if (error)
        return error;
    if (rank != root) {
        copy_name(delta_pset, a.delta);
        copy_name(new_pset, a.next);
    }
    if (a.result == MPI_ERR_ARG)
        return sessions_wrong(session, function, MPI_ERR_ARG, a.why);
    return a.result ? a.result : complete(&a, comm, terminate);
}

int epop__instead_MPI_Session_confirm_res_change(MPI_Session session, MPI_Info info, const char *delta_pset,
                                                 char *new_pset)
{
    static const char function[] = "MPI_Session_confirm_res_change";
    struct error why;
    (void)info;
    int error = sessions_may_change(session, function);
    if (error)
        return error;
    if (!delta_pset || !new_pset)
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its process sets is NULL");
    agent_let_join();
    cJSON *message = question("confirm");
    cJSON_AddStringToObject(message, "delta", delta_pset);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_PORT, why.text);
    copy_name(new_pset, json_text(answer, "set"));
    question_grown();
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}
