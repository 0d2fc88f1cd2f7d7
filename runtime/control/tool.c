/*
 * An attached PMIx tool: what a member and epopctl have in common. One per process.
 * PMIx_tool_init has no time limit of its own, so it runs in a thread that can be left behind.
 */
#include "runtime/control/tool.h"

#include <pmix_tool.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/thread.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/control/environment.h"
#include "runtime/control/sockets.h"
#include "runtime/control/token.h"
#include "runtime/control/waiter.h"

static struct {
    pthread_mutex_t lock;
    const struct control_tool_ops *ops;
    void *context;
    bool attached;    /* between attach and detach, and the connection is there */
    bool initialized; /* PMIx_tool_finalize is due */
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One attempt to attach; lives until both the caller and the thread are through with it. */
struct attempt {
    struct control_waiter *waiter;
    char *uri;
    char nspace[CONTROL_NSPACE_MAX];
};

static bool is_attached(void)
{
    pthread_mutex_lock(&tool.lock);
    bool attached = tool.attached;
    pthread_mutex_unlock(&tool.lock);
    return attached;
}

static void set_attached(bool attached)
{
    pthread_mutex_lock(&tool.lock);
    tool.attached = attached;
    tool.initialized |= attached;
    pthread_mutex_unlock(&tool.lock);
}

static void message_arrived(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                            size_t count, pmix_info_t *results, size_t result_count,
                            pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    cJSON *message = control_info_json(info, count, CONTROL_KEY_MESSAGE);
    (void)id, (void)status, (void)source, (void)results, (void)result_count;
    if (message && tool.ops->message)
        tool.ops->message(tool.context, message);
    cJSON_Delete(message);
    if (control_info_text(info, count, CONTROL_KEY_BYE) && tool.ops->ending)
        tool.ops->ending(tool.context);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void connection_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                            size_t count, pmix_info_t *results, size_t result_count,
                            pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)count, (void)results, (void)result_count;
    pthread_mutex_lock(&tool.lock);
    bool tell = tool.attached;
    tool.attached = false;
    pthread_mutex_unlock(&tool.lock);
    if (tell && tool.ops->lost)
        tool.ops->lost(tool.context);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t init_tool(const struct attempt *attempt)
{
    pmix_info_t info[3];
    pmix_proc_t self;
    pmix_rank_t rank = 0;
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_URI, attempt->uri, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_TOOL_NSPACE, attempt->nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
    pmix_status_t status = PMIx_tool_init(&self, info, 3);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status;
}

static pmix_status_t register_handlers(void)
{
    pmix_status_t event = CONTROL_EVENT, lost = PMIX_ERR_LOST_CONNECTION;
    pmix_status_t result = PMIx_Register_event_handler(&event, 1, NULL, 0, message_arrived, NULL, NULL);
    if (result < 0)
        return result;
    return PMIx_Register_event_handler(&lost, 1, NULL, 0, connection_lost, NULL, NULL);
}

static void *attach_thread(void *argument)
{
    struct attempt *attempt = argument;
    pmix_status_t status = init_tool(attempt);
    control_environment_restore();
    if (status == PMIX_SUCCESS) {
        control_socket_tune(attempt->uri);
        set_attached(true);
        status = register_handlers();
        if (status >= 0)
            status = PMIX_SUCCESS;
    }
    control_waiter_report(attempt->waiter, status, NULL);
    free(attempt->uri);
    free(attempt);
    return NULL;
}

/* Starts the attempt; the waiter, or NULL. */
static struct control_waiter *attach_begin(const char *uri, const char *nspace)
{
    struct attempt *attempt = calloc(1, sizeof *attempt);
    struct control_waiter *waiter = control_waiter_new();
    if (!attempt || !waiter || !(attempt->uri = strdup(uri)))
        goto failed;
    attempt->waiter = waiter;
    snprintf(attempt->nspace, sizeof attempt->nspace, "%s", nspace);
    if (thread_start(NULL, attach_thread, attempt))
        goto failed;
    return waiter;
failed:
    if (attempt)
        free(attempt->uri);
    free(attempt);
    if (waiter) {
        control_waiter_drop(waiter);
        control_waiter_drop(waiter);
    }
    return NULL;
}

int control_tool_attach(const char *uri, const char *nspace, const struct control_tool_ops *ops, void *context,
                        int timeout_ms, struct error *error)
{
    pmix_status_t status = PMIX_SUCCESS;
    control_prepare();
    tool.ops = ops;
    tool.context = context;
    struct control_waiter *waiter = attach_begin(uri, nspace);
    if (!waiter) {
        return error_set(error, ERROR_FAILED, "cannot attach to the job: out of memory");
    }
    int late = control_waiter_wait(waiter, timeout_ms, &status, NULL);
    control_waiter_drop(waiter);
    if (late != 0) {
        return error_set(error, ERROR_TIMEOUT, "cannot attach to the job: no answer within %d ms", timeout_ms);
    }
    if (status != PMIX_SUCCESS) {
        error_set(error, ERROR_FAILED, "cannot attach to the job: %s", PMIx_Error_string(status));
        control_tool_detach();
        return -1;
    }
    return 0;
}

static void release_answer(pmix_status_t status, pmix_info_t *info, size_t count, void *cbdata,
                           pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)status, (void)info, (void)count, (void)cbdata;
    if (release)
        release(release_cbdata);
}

int control_tool_tell(const char *key, const cJSON *json, int wait_ms)
{
    pmix_info_t info;
    pmix_status_t status;
    if (!is_attached() || control_info_load(&info, key, json))
        return -1;
    struct control_waiter *waiter = wait_ms > 0 ? control_waiter_new() : NULL;
    if (!waiter)
        status = PMIx_Job_control_nb(NULL, 0, &info, 1, release_answer, NULL);
    else
        status = PMIx_Job_control_nb(NULL, 0, &info, 1, control_waiter_answered, waiter);
    PMIX_INFO_DESTRUCT(&info);
    if (!waiter)
        return status == PMIX_SUCCESS ? 0 : -1;
    if (status != PMIX_SUCCESS)
        control_waiter_report(waiter, status, NULL);
    int late = control_waiter_wait(waiter, wait_ms, &status, NULL);
    control_waiter_drop(waiter);
    return late == 0 && status == PMIX_SUCCESS ? 0 : -1;
}

void control_tool_detach(void)
{
    control_tool_tell(CONTROL_KEY_BYE, NULL, 1000);
    pthread_mutex_lock(&tool.lock);
    bool finalize = tool.initialized;
    tool.attached = tool.initialized = false;
    pthread_mutex_unlock(&tool.lock);
    if (finalize)
        PMIx_tool_finalize();
    control_leave_nothing();
}
