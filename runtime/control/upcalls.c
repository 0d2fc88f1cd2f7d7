/* What PMIx asks its host, in PMIx's progress thread: may this tool attach, and what its requests are. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/control/control_internal.h"

static const pmix_info_t *find_info(const pmix_info_t *info, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

/* Over TCP the uid is what the tool claims, so it only keeps mistakes out; the ticket is what counts. */
static int may_attach(const pmix_info_t *info, size_t count, int *process)
{
    const char *nspace = control_info_text(info, count, PMIX_NSPACE);
    const pmix_info_t *uid = find_info(info, count, PMIX_USERID);

    if (uid != NULL && uid->value.type == PMIX_UINT32 && uid->value.data.uint32 != geteuid())
        return 0;
    return nspace != NULL && control_nspace_check(nspace, control_server_token(), process) == 0;
}

/* In PMIx's progress thread, behind what tool_connected put off: PMIx has written its answer. */
static void answered(pmix_status_t status, void *cbdata)
{
    (void)status;
    control_gate_uncork((int)(intptr_t)cbdata);
}

/* PMIx 4.2.2 crashes if it is told to refuse, or when its answer cannot be written. One that may not attach is
 * therefore never answered: it has come through the gate with the right token, so it is only a mistaken one. */
static void tool_connected(pmix_info_t *info, size_t count, pmix_tool_connection_cbfunc_t done, void *cbdata)
{
    const char *nspace = control_info_text(info, count, PMIX_NSPACE);
    pmix_proc_t proc;
    bool yes = true;
    int process = -1, fd;

    if (control_server_enter() != 0)
        return;
    if (!may_attach(info, count, &process) || (fd = control_gate_swap()) < 0)
        goto leave;
    control_departed_forget();
    control_peers_add(nspace, process);
    PMIX_LOAD_PROCID(&proc, nspace, 0);
    done(PMIX_SUCCESS, &proc, cbdata);
    pmix_info_t quiet;
    PMIX_INFO_LOAD(&quiet, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIx_Notify_event(CONTROL_EVENT, NULL, PMIX_RANGE_PROC_LOCAL, &quiet, 1, answered, (void *)(intptr_t)fd);
    PMIX_INFO_DESTRUCT(&quiet);
leave:
    control_server_leave();
}

/* Hands a request of epopctl over; `watch` is this layer's own. */
static pmix_status_t take_request(const char *client, const cJSON *request, pmix_info_cbfunc_t done, void *cbdata)
{
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "op"));
    void *context;
    const control_server_ops_t *ops = control_server_ops(&context);
    control_request_t *handle = control_requests_add(client, done, cbdata);

    if (handle == NULL)
        return PMIX_ERR_NOMEM;
    if (op != NULL && strcmp(op, "watch") == 0) {
        cJSON *answer = cJSON_CreateObject();
        cJSON_AddBoolToObject(answer, "ok", control_peers_watch(client) == 0);
        control_answer(handle, answer);
        cJSON_Delete(answer);
    } else {
        ops->request(context, handle, request);
    }
    return PMIX_SUCCESS;
}

/* From infos that carry a request and who asks. */
static pmix_status_t request_in(const pmix_info_t *info, size_t count, const char *requestor, pmix_info_cbfunc_t done,
                                void *cbdata)
{
    const char *client = requestor != NULL ? requestor : control_info_text(info, count, CONTROL_KEY_CLIENT);
    cJSON *request = control_info_json(info, count, CONTROL_KEY_REQUEST);
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    int process;

    if (client == NULL || control_peers_find(client, &process) != 0)
        status = PMIX_ERR_NO_PERMISSIONS;
    else if (request != NULL)
        status = take_request(client, request, done, cbdata);
    cJSON_Delete(request);
    return status;
}

/* A query does not say whose it is, so epopctl puts its name in. */
static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t count, pmix_info_cbfunc_t done,
                           void *cbdata)
{
    (void)proc;
    if (count != 1)
        return PMIX_ERR_NOT_SUPPORTED;
    return request_in(queries[0].qualifiers, queries[0].nqual, NULL, done, cbdata);
}

static pmix_status_t allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive, const pmix_info_t info[],
                              size_t count, pmix_info_cbfunc_t done, void *cbdata)
{
    (void)directive;
    return request_in(info, count, client->nspace, done, cbdata);
}

/* A peer that said goodbye or whose connection broke. */
static void gone(const char *nspace, int lost)
{
    void *context;
    const control_server_ops_t *ops = control_server_ops(&context);
    int process, ready;

    if (control_peers_remove(nspace, &process, &ready) != 0)
        return;
    control_departed_add(nspace);
    if (process < 0)
        control_requests_abandon(nspace, ops->abandoned, context);
    else if (ready && lost && !control_server_ending() && ops->lost != NULL)
        ops->lost(context, process);
}

static pmix_status_t hello(const char *nspace)
{
    void *context;
    const control_server_ops_t *ops = control_server_ops(&context);
    int process = control_peers_ready(nspace);

    if (process < 0)
        return PMIX_ERR_NO_PERMISSIONS;
    if (ops->attached != NULL)
        ops->attached(context, process);
    return PMIX_SUCCESS;
}

static pmix_status_t message_in(const char *nspace, const pmix_info_t *info, size_t count)
{
    void *context;
    const control_server_ops_t *ops = control_server_ops(&context);
    cJSON *message = control_info_json(info, count, CONTROL_KEY_MESSAGE);
    int process = -1;

    if (message == NULL || control_peers_find(nspace, &process) != 0 || process < 0) {
        cJSON_Delete(message);
        return PMIX_ERR_BAD_PARAM;
    }
    if (ops->message != NULL)
        ops->message(context, process, message);
    cJSON_Delete(message);
    return PMIX_SUCCESS;
}

static pmix_status_t job_control(const pmix_proc_t *requestor, const pmix_proc_t targets[], size_t target_count,
                                 const pmix_info_t info[], size_t count, pmix_info_cbfunc_t done, void *cbdata)
{
    const char *nspace = requestor->nspace;
    pmix_status_t status = PMIX_SUCCESS;

    (void)targets, (void)target_count;
    if (find_info(info, count, CONTROL_KEY_REQUEST) != NULL)
        return request_in(info, count, nspace, done, cbdata);
    if (find_info(info, count, CONTROL_KEY_HELLO) != NULL)
        status = hello(nspace);
    else if (find_info(info, count, CONTROL_KEY_BYE) != NULL)
        gone(nspace, 0);
    else
        status = message_in(nspace, info, count);
    done(status, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static void forgotten(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

/* PMIx keeps what it knows of a tool after it has gone. */
static void forget(const char *nspace)
{
    gone(nspace, 1);
    if (control_server_enter() != 0)
        return;
    PMIx_server_deregister_nspace(nspace, forgotten, NULL);
    control_server_leave();
}

void control_upcalls_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                          pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                          void *cbdata)
{
    (void)id, (void)status, (void)results, (void)result_count;
    forget(source->nspace);
    /* PMIx makes one event of losses that come together: the first is its source, the others are infos. */
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID) && info[i].value.type == PMIX_PROC)
            forget(info[i].value.data.proc->nspace);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

pmix_server_module_t *control_upcalls(void)
{
    static pmix_server_module_t module = {
        .query = query, .tool_connected = tool_connected, .allocate = allocate, .job_control = job_control};

    return &module;
}
