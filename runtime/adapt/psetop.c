/* The successor's calls of epop/mpi_psets.h: operations by which a program also asks for changes, and dictionaries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/mpi_psets.h"
#include "interpose/instead.h"
#include "runtime/adapt/agent.h"
#include "runtime/adapt/question.h"
#include "runtime/adapt/sessions.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/member/asks.h"
#include "runtime/member/member.h"
#include "runtime/psets/psets.h"
#include "runtime/world/world.h"

/* ---- Questions that the program does not wait for ----------------------------------------------- */

/* An MPI request stands for each, and is complete when the answer has come. */

struct later {
    void (*arrived)(void *context, const cJSON *answer);
    void (*finished)(void *context);
    bool there;    /* under the member's lock */
    bool complete; /* where MPI polls: for MPI */
    MPI_Request request;
    char context[];
};

/* On the control thread, with the member's lock. */
static void take_answer(void *context, const cJSON *answer)
{
    struct later *later = context;
    later->arrived(later->context, answer);
    later->there = true;
}

static int later_query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* A request may be freed before its answer has come: the answer then goes where it was to go all the same. */
static int later_release(void *state)
{
    struct later *later = state;
    pthread_mutex_lock(&world.member->lock);
    bool there = later->there;
    pthread_mutex_unlock(&world.member->lock);
    if (there)
        free(later);
    return MPI_SUCCESS;
}

static int later_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

#ifdef MPICH_VERSION

/* MPICH polls it wherever it is tested or waited for. Who waits in MPI polls without a pause. */
static bool later_is_there(struct later *later)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, 0.0001);
    pthread_mutex_lock(&world.member->lock);
    if (!later->there && !world.member->finish)
        pthread_cond_clockwait(&world.member->changed, &world.member->lock, CLOCK_MONOTONIC, &until);
    bool there = later->there || world.member->finish;
    pthread_mutex_unlock(&world.member->lock);
    return there;
}

static int later_poll(void *state, MPI_Status *status)
{
    struct later *later = state;
    (void)status;
    if (later->complete || !later_is_there(later))
        return MPI_SUCCESS;
    later->complete = true;
    if (later->finished && later->there)
        later->finished(later->context);
    return MPI_Grequest_complete(later->request);
}

static int later_wait(int count, void **states, double timeout, MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++)
        while (!((struct later *)states[i])->complete)
            later_poll(states[i], status);
    return MPI_SUCCESS;
}

static int later_begin(struct later *later)
{
    return MPIX_Grequest_start(later_query, later_release, later_cancel, later_poll, later_wait, later,
                               &later->request);
}

#else

/* In standard MPI another thread completes it: one for each, which sleeps. The request's end may be that of `later`. */
static void *later_await(void *argument)
{
    struct later *later = argument;
    pthread_mutex_lock(&world.member->lock);
    while (!later->there && !world.member->finish)
        pthread_cond_wait(&world.member->changed, &world.member->lock);
    bool there = later->there;
    pthread_mutex_unlock(&world.member->lock);
    if (later->finished && there)
        later->finished(later->context);
    MPI_Grequest_complete(later->request);
    return NULL;
}

static int later_begin(struct later *later)
{
    int error = MPI_Grequest_start(later_query, later_release, later_cancel, later, &later->request);
    if (!error && thread_start(NULL, later_await, later))
        return MPI_ERR_NO_MEM;
    return error;
}

#endif

/*
 * Asks (takes the message). arrived gets the answer, with a copy of context's `size` bytes, on the control thread; it
 * must not block or call MPI. finished (NULL: nothing) is called with that copy in the thread that completes the
 * request, and may. *request is the program's. MPI's error code, by the session's error handler.
 */
static int later_ask(MPI_Session session, const char *function, cJSON *message,
                     void (*arrived)(void *context, const cJSON *answer), const void *context, size_t size,
                     void (*finished)(void *context), MPI_Request *request)
{
    struct later *later = calloc(1, sizeof *later + size);
    if (!later) {
        cJSON_Delete(message);
        return sessions_wrong(session, function, MPI_ERR_NO_MEM, "out of memory");
    }
    memcpy(later->context, context, size);
    later->arrived = arrived;
    later->finished = finished;
    int error = later_begin(later);
    *request = later->request;
    if (!error && member_ask_beside(world.member, message, take_answer, later))
        return sessions_wrong(session, function, MPI_ERR_OTHER, "the job's control does not answer");
    return error;
}

/* ---- Operations ----------------------------------------------------------------------- */

static int number_in(MPI_Info info, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1];
    return info_text(info, key, text) ? atoi(text) : 0;
}

/* One that is not said by its own key may be by the one for all operations. */
static int processes_in(MPI_Info info, const char *key, bool wanted)
{
    char text[MPI_MAX_INFO_VAL + 1];
    if (info_text(info, key, text) || !wanted)
        return number_in(info, key);
    return number_in(info, "mpi.op_info.info.num_procs");
}

static cJSON *change_of(int op, char **sets, MPI_Info info)
{
    char hosts[MPI_MAX_INFO_VAL + 1];
    cJSON *message = question("request");
    question_name(message, "set", sets[0]);
    cJSON_AddNumberToObject(message, "type", op);
    bool adds = op != MPI_PSETOP_SUB && op != MPI_PSETOP_SHRINK, takes = op != MPI_PSETOP_ADD && op != MPI_PSETOP_GROW;
    cJSON_AddNumberToObject(message, "add", processes_in(info, "mpi_num_procs_add", adds));
    cJSON_AddNumberToObject(message, "sub", processes_in(info, "mpi_num_procs_sub", takes));
    cJSON_AddNumberToObject(message, "least", number_in(info, "mpi_num_procs_min"));
    cJSON_AddNumberToObject(message, "most", number_in(info, "mpi_num_procs_max"));
    cJSON_AddNumberToObject(message, "preferred", number_in(info, "mpi_num_procs_pref"));
    if (info_text(info, "hosts", hosts))
        cJSON_AddStringToObject(message, "add_hosts", hosts);
    return message;
}

static cJSON *combination_of(int op, char **sets, int count)
{
    cJSON *message = question("op");
    cJSON_AddNumberToObject(message, "type", op);
    question_name(message, "a", sets[0]);
    question_name(message, "b", sets[1]);
    question_names(message, "more", sets + 2, count - 2);
    return message;
}

static cJSON *split_of(char **sets, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1], *rest = text;
    cJSON *message = question("split"), *parts = cJSON_AddArrayToObject(message, "parts");
    question_name(message, "a", sets[0]);
    if (!info_text(info, "mpi_part_sizes", text))
        return message;
    for (char *part; (part = strsep(&rest, ","));)
        cJSON_AddItemToArray(parts, cJSON_CreateNumber(atoi(part)));
    return message;
}

static bool is_change(int op)
{
    return op == MPI_PSETOP_ADD || op == MPI_PSETOP_SUB || op == MPI_PSETOP_GROW || op == MPI_PSETOP_SHRINK ||
           op == MPI_PSETOP_REPLACE;
}

/* The question for it; NULL: there is no such operation, or it wants other sets. */
static cJSON *question_of(int op, char **sets, int count, MPI_Info info)
{
    for (int i = 0; i < count; i++)
        if (!sets || !sets[i])
            return NULL;
    if (is_change(op) && count >= 1)
        return change_of(op, sets, info);
    if ((op == MPI_PSETOP_UNION || op == MPI_PSETOP_DIFFERENCE || op == MPI_PSETOP_INTERSECTION) && count >= 2)
        return combination_of(op, sets, count);
    if (op == MPI_PSETOP_SPLIT && count == 1)
        return split_of(sets, info);
    return op == MPI_PSETOP_CANCEL ? question("cancel") : NULL;
}

/* Where the answer goes. What cannot be is no error: the program goes on as it is. */
struct outputs {
    int *type;
    char ***sets;
    int *count;
    bool queries; /* the answer says which type it is */
};

/* For programs that look at the names before they look at the result: as many as any operation gives, and empty. */
static char **no_sets(void)
{
    enum { MOST = 3 };
    char **names = calloc(1, (MOST + 1) * sizeof *names + 1);
    for (int i = 0; names && i < MOST; i++)
        names[i] = (char *)(names + MOST + 1);
    return names;
}

static void fill(const struct outputs *to, const cJSON *answer)
{
    bool granted = !answer_refusal(answer);
    *to->count = 0;
    *to->sets = granted ? answer_sets(answer, to->count) : NULL;
    if (!*to->sets && !to->queries)
        *to->sets = no_sets();
    if (to->queries)
        *to->type = granted ? json_int(answer, "type", MPI_PSETOP_NULL) : MPI_PSETOP_NULL;
    else if (!granted)
        *to->type = MPI_PSETOP_NULL;
}

static void arrived(void *context, const cJSON *answer)
{
    fill(context, answer);
}

/* Asks now, or beside the program, into `to`. */
static int carry_out(MPI_Session session, const char *function, cJSON *message, struct outputs to, MPI_Request *request)
{
    struct error why;
    if (request)
        return later_ask(session, function, message, arrived, &to, sizeof to, NULL, request);
    cJSON *answer = question_ask(message, &why);
    fill(&to, answer);
    if (!answer && to.queries)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

static int operate(MPI_Session session, const char *function, int *op, char **input_sets, int ninput,
                   char ***output_sets, int *noutput, MPI_Info info, MPI_Request *request)
{
    int error = sessions_may_change(session, function);
    if (error)
        return error;
    if (!op || !output_sets || !noutput)
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its arguments is NULL");
    cJSON *message = question_of(*op, input_sets, ninput, info);
    if (!message)
        return sessions_wrong(session, function, MPI_ERR_ARG, "there is no such operation on so many process sets");
    cJSON_AddBoolToObject(message, "beside", request ? 1 : 0);
    return carry_out(session, function, message, (struct outputs){op, output_sets, noutput, false}, request);
}

int epop__instead_MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput,
                                             char ***output_sets, int *noutput, MPI_Info info)
{
    return operate(session, "MPI_Session_dyn_v2a_psetop", op, input_sets, ninput, output_sets, noutput, info, NULL);
}

int epop__instead_MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput,
                                                char ***output_sets, int *noutput, MPI_Info info, MPI_Request *request)
{
    return operate(session, "MPI_Session_dyn_v2a_psetop_nb", op, input_sets, ninput, output_sets, noutput, info,
                   request);
}

static int psetop_look(MPI_Session session, const char *function, const char *coll_pset, const char *input_pset,
                       int *type, char ***output_psets, int *noutput, MPI_Request *request)
{
    int error = sessions_may_change(session, function);
    if (error)
        return error;
    if (!coll_pset || !input_pset || !type || !output_psets || !noutput)
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its arguments is NULL");
    cJSON *message = question("change");
    cJSON_AddTrueToObject(message, "proposed");
    question_name(message, "bound", input_pset);
    question_together(message, coll_pset, input_pset);
    return carry_out(session, function, message, (struct outputs){type, output_psets, noutput, true}, request);
}

int epop__instead_MPI_Session_dyn_v2a_query_psetop(MPI_Session session, const char *coll_pset, const char *input_pset,
                                                   int *type, char ***output_psets, int *noutput)
{
    return psetop_look(session, "MPI_Session_dyn_v2a_query_psetop", coll_pset, input_pset, type, output_psets, noutput,
                       NULL);
}

int epop__instead_MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, const char *coll_pset,
                                                      const char *input_pset, int *type, char ***output_psets,
                                                      int *noutput, MPI_Request *request)
{
    return psetop_look(session, "MPI_Session_dyn_v2a_query_psetop_nb", coll_pset, input_pset, type, output_psets,
                       noutput, request);
}

int epop__instead_MPI_Session_dyn_finalize_psetop(MPI_Session session, const char *pset_name)
{
    static const char function[] = "MPI_Session_dyn_finalize_psetop";
    struct error why;
    int error = sessions_may_change(session, function);
    if (error)
        return error;
    cJSON *message = question("close");
    question_name(message, "set", pset_name ? pset_name : "");
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

/* ---- Meeting ----------------------------------------------------------------------------- */

static void met(void *unused, const cJSON *answer)
{
    (void)unused;
    (void)answer;
}

static int meet(MPI_Session session, const char *function, char **pset_names, int num_psets, MPI_Request *request)
{
    struct error why;
    if (!sessions_has(session))
        return sessions_wrong(session, function, MPI_ERR_SESSION, "that is no session");
    for (int i = 0; i < num_psets; i++)
        if (!pset_names || !pset_names[i])
            return sessions_wrong(session, function, MPI_ERR_ARG, "one of its process sets is NULL");
    if (num_psets < 1)
        return sessions_wrong(session, function, MPI_ERR_ARG, "of no process set there is nobody to wait for");
    agent_let_join(); /* who waits for others by their set is to meet them */
    cJSON *message = question("barrier");
    question_names(message, "more", pset_names, num_psets);
    question_all(message, "more");
    if (request)
        return later_ask(session, function, message, met, function, 0, NULL, request);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

int epop__instead_MPI_Session_pset_barrier(MPI_Session session, char **pset_names, int num_psets, MPI_Info info)
{
    (void)info;
    return meet(session, "MPI_Session_pset_barrier", pset_names, num_psets, NULL);
}

int epop__instead_MPI_Session_pset_barrier_nb(MPI_Session session, char **pset_names, int num_psets, MPI_Info info,
                                              MPI_Request *request)
{
    static const char function[] = "MPI_Session_pset_barrier_nb";
    (void)info;
    if (!request)
        return sessions_wrong(session, function, MPI_ERR_ARG, "the request is NULL");
    return meet(session, function, pset_names, num_psets, request);
}

/* ---- Dictionaries ------------------------------------------------------------------------ */

int epop__instead_MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info)
{
    static const char function[] = "MPI_Session_set_pset_data";
    struct error why;
    if (!sessions_has(session))
        return sessions_wrong(session, function, MPI_ERR_SESSION, "that is no session");
    cJSON *message = question("set");
    question_name(message, "set", pset_name ? pset_name : "");
    cJSON_AddItemToObject(message, "data", info_to_json(info));
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

static MPI_Info found_in(const cJSON *answer)
{
    MPI_Info info;
    const cJSON *item;
    MPI_Info_create(&info);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(answer, "data"))
        info_set(info, item->string, item->valuestring);
    return info;
}

/* An info object is made by the program's thread. */
struct lookup {
    MPI_Info *info;
    cJSON *answer;
};

static void take_data(void *context, const cJSON *answer)
{
    struct lookup *lookup = context;
    lookup->answer = cJSON_Duplicate(answer, 1);
}

static void give_data(void *context)
{
    struct lookup *lookup = context;
    *lookup->info = found_in(lookup->answer);
    cJSON_Delete(lookup->answer);
    lookup->answer = NULL;
}

static int psetop_get(MPI_Session session, const char *function, const char *coll_pset, const char *pset_name,
                      char **keys, int nkeys, int wait, MPI_Info *info_used, MPI_Request *request)
{
    struct error why;
    if (!sessions_has(session))
        return sessions_wrong(session, function, MPI_ERR_SESSION, "that is no session");
    if (!coll_pset || !pset_name || !info_used || (nkeys && !keys))
        return sessions_wrong(session, function, MPI_ERR_ARG, "one of its arguments is NULL");
    agent_let_join(); /* a process that asks what it was started for is ready */
    cJSON *message = question("get");
    question_name(message, "set", pset_name);
    cJSON_AddItemToObject(message, "keys", cJSON_CreateStringArray((const char *const *)keys, nkeys));
    cJSON_AddBoolToObject(message, "wait", wait);
    cJSON_AddBoolToObject(message, "beside", request ? 1 : 0);
    question_together(message, coll_pset, pset_name);
    if (request) {
        struct lookup lookup = {info_used, NULL};
        return later_ask(session, function, message, take_data, &lookup, sizeof lookup, give_data, request);
    }
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, function, MPI_ERR_ARG, why.text);
    *info_used = found_in(answer);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

int epop__instead_MPI_Session_get_pset_data(MPI_Session session, const char *coll_pset, const char *pset_name,
                                            char **keys, int nkeys, int wait, MPI_Info *info_used)
{
    return psetop_get(session, "MPI_Session_get_pset_data", coll_pset, pset_name, keys, nkeys, wait, info_used, NULL);
}

int epop__instead_MPI_Session_get_pset_data_nb(MPI_Session session, const char *coll_pset, const char *pset_name,
                                               char **keys, int nkeys, int wait, MPI_Info *info_used,
                                               MPI_Request *request)
{
    return psetop_get(session, "MPI_Session_get_pset_data_nb", coll_pset, pset_name, keys, nkeys, wait, info_used,
                      request);
}
