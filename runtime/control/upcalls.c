/* What PMIx asks its host, in PMIx's progress thread: may this tool attach, and what its requests are. */
#include "runtime/control/upcalls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/control/admission.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/wire/messages.h"
#include "runtime/control/namespaces.h"
#include "runtime/control/peers.h"
#include "runtime/control/progress.h"
#include "runtime/control/requests.h"
#include "runtime/control/server.h"
#include "runtime/control/token.h"

static const pmix_info_t *find_info(const pmix_info_t *info, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

/* Over TCP the uid is what the tool claims, so it only keeps mistakes out; the ticket is what counts. */
static bool may_attach(const pmix_info_t *info, size_t count, int *process)
{
    const char *nspace = control_info_text(info, count, PMIX_NSPACE);
    const pmix_info_t *uid = find_info(info, count, PMIX_USERID);
    if (uid && uid->value.type == PMIX_UINT32 && uid->value.data.uint32 != geteuid())
        return 0;
    return nspace && !control_nspace_check(nspace, control_server_token(), process);
}

/* In PMIx's progress thread, behind what tool_connected put off: PMIx has written its answer. */
static void answered(pmix_status_t status, void *cbdata)
{
    (void)status;
    control_admission_uncork((int)(intptr_t)cbdata);
}

/* PMIx 4.2.2 crashes if it is told to refuse, or when its answer cannot be written. One that may not attach is
 * therefore never answered: it has been admitted with the right token, so it is only a mistaken one. */
static void tool_connected(pmix_info_t *info, size_t count, pmix_tool_connection_cbfunc_t done, void *cbdata)
{
    const char *nspace = control_info_text(info, count, PMIX_NSPACE);
    pmix_proc_t proc;
    int process = -1, fd;
    if (control_server_enter())
        return;
    if (!may_attach(info, count, &process)) {
        control_admission_refuse();
    } else if ((fd = control_admission_swap()) >= 0) {
        control_namespaces_forget();
        control_peers_add(nspace, process);
        PMIX_LOAD_PROCID(&proc, nspace, 0);
        done(PMIX_SUCCESS, &proc, cbdata);
        control_progress_call(answered, (void *)(intptr_t)fd);
    }
    control_server_leave();
}

/* Hands a request of epopctl over; `watch` is this layer's own. */
static pmix_status_t take_request(const char *client, const cJSON *request, pmix_info_cbfunc_t done, void *cbdata)
{
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "op"));
    void *context;
    const struct control_server_ops *ops = control_server_ops(&context);
    struct control_request *handle = control_requests_add(client, done, cbdata);
    if (!handle)
        return PMIX_ERR_NOMEM;
    if (op && !strcmp(op, REQUEST_WATCH)) {
        cJSON *answer = cJSON_CreateObject();
        cJSON_AddBoolToObject(answer, "ok", !control_peers_watch(client));
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
    const char *client = requestor ? requestor : control_info_text(info, count, CONTROL_KEY_CLIENT);
    cJSON *request = control_info_json(info, count, CONTROL_KEY_REQUEST);
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    int process;
    if (!client || control_peers_find(client, &process))
        status = PMIX_ERR_NO_PERMISSIONS;
    else if (request)
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
static void gone(const char *nspace, bool lost)
{
    void *context;
    const struct control_server_ops *ops = control_server_ops(&context);
    int process;
    bool ready;
    if (control_peers_remove(nspace, &process, &ready))
        return;
    control_namespaces_gone(nspace);
    if (process < 0)
        control_requests_abandon(nspace, ops->abandoned, context);
    else if (ready && lost && !control_server_ending() && ops->lost)
        ops->lost(context, process);
    if (process >= 0 && ready && ops->closed)
        ops->closed(context, process);
}

static pmix_status_t hello(const char *nspace)
{
    void *context;
    const struct control_server_ops *ops = control_server_ops(&context);
    int process = control_peers_ready(nspace);
    if (process < 0)
        return PMIX_ERR_NO_PERMISSIONS;
    if (ops->attached)
        ops->attached(context, process);
    return PMIX_SUCCESS;
}

static pmix_status_t message_in(const char *nspace, const pmix_info_t *info, size_t count)
{
    void *context;
    const struct control_server_ops *ops = control_server_ops(&context);
    cJSON *message = control_info_json(info, count, CONTROL_KEY_MESSAGE);
    int process = -1;
    if (!message || control_peers_find(nspace, &process) || process < 0) {
        cJSON_Delete(message);
        return PMIX_ERR_BAD_PARAM;
    }
    if (ops->message)
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
    if (find_info(info, count, CONTROL_KEY_REQUEST))
        return request_in(info, count, nspace, done, cbdata);
    if (find_info(info, count, CONTROL_KEY_HELLO))
        status = hello(nspace);
    else if (find_info(info, count, CONTROL_KEY_BYE))
        gone(nspace, false);
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
    gone(nspace, true);
    if (control_server_enter())
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
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

pmix_server_module_t *control_upcalls(void)
{
    static pmix_server_module_t module = {
        .query = query, .tool_connected = tool_connected, .allocate = allocate, .job_control = job_control};
    return &module;
}
