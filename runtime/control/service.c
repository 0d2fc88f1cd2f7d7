/* Starting the server in process 0, what it sends, and its end: the server's part of control.h. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/thread.h"
#include "runtime/control/admission.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/control/environment.h"
#include "runtime/control/jobfile.h"
#include "runtime/control/peers.h"
#include "runtime/control/requests.h"
#include "runtime/control/rundir.h"
#include "runtime/control/server.h"
#include "runtime/control/sockets.h"
#include "runtime/control/token.h"
#include "runtime/control/upcalls.h"

#define CUT_OFF_MS 1000 /* for PMIx to notice that a connection is shut */

static pmix_status_t init_server(void)
{
    pmix_info_t info[4];
    pmix_rank_t rank = 0;
    bool yes = true;
    snprintf(control_server.self.nspace, sizeof control_server.self.nspace, "epop.%ld", (long)getpid());
    control_server.self.rank = rank;
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_NSPACE, control_server.self.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_TMPDIR, control_server.tmpdir, PMIX_STRING);
    pmix_status_t status = PMIx_server_init(control_upcalls(), info, 4);
    for (int i = 0; i < 4; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status;
}

static pmix_status_t get_uri(char uri[CONTROL_URI_MAX])
{
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Get(&control_server.self, PMIX_SERVER_URI, NULL, 0, &value);
    if (status == PMIX_SUCCESS) {
        if (value->type == PMIX_STRING && strlen(value->data.string) < CONTROL_URI_MAX)
            strcpy(uri, value->data.string);
        else
            status = PMIX_ERR_BAD_PARAM;
        PMIX_VALUE_RELEASE(value);
    }
    return status;
}

/* PMIx and the admission in front of it; undone on failure. With PMIX_ERR_IN_ERRNO the reason is in *system_error. */
static pmix_status_t start(int *system_error)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION, status = init_server();
    if (status != PMIX_SUCCESS)
        return status;
    status = get_uri(control_server.uri);
    if (status == PMIX_SUCCESS)
        status = PMIx_Register_event_handler(&lost, 1, NULL, 0, control_upcalls_lost, NULL, NULL);
    if (status >= 0 && control_admission_open(control_server.uri, control_server.tmpdir)) {
        *system_error = errno;
        status = PMIX_ERR_IN_ERRNO;
    }
    if (status < 0)
        PMIx_server_finalize();
    return status < 0 ? status : PMIX_SUCCESS;
}

int control_serve(const struct control_server_ops *ops, void *context, char uri[CONTROL_URI_MAX],
                  char token[CONTROL_TOKEN_MAX], struct error *error)
{
    sigset_t before;
    int system_error = 0;
    control_server.ops = ops;
    control_server.context = context;
    if (control_token_make(control_server.token)) {
        return error_set(error, ERROR_FAILED, "cannot start the control server: no random numbers from the kernel");
    }
    if (control_rundir_private(control_server.tmpdir, sizeof control_server.tmpdir, error))
        return -1;
    control_prepare();
    thread_mask_signals(&before); /* for those of PMIx: a write to a dead process's connection is no end */
    pmix_status_t status = start(&system_error);
    thread_unmask_signals(&before);
    control_environment_restore();
    if (status != PMIX_SUCCESS) {
        error_set(error, ERROR_FAILED, "cannot start the control server: %s",
                  status == PMIX_ERR_IN_ERRNO ? strerror(system_error) : PMIx_Error_string(status));
        control_rundir_remove(control_server.tmpdir);
        control_leave_nothing();
        return -1;
    }
    strcpy(uri, control_server.uri);
    control_sockets_only_here(uri);
    strcpy(token, control_server.token);
    pthread_mutex_lock(&control_server.lock);
    control_server.open = true;
    pthread_mutex_unlock(&control_server.lock);
    return 0;
}

static void notified(pmix_status_t status, void *cbdata)
{
    (void)status, (void)cbdata;
}

/* Sends one event to each of these, between enter and leave. PMIx would keep the event for tools that come later, and
 * one that rejoins would hear old messages. */
static void notify(const pmix_proc_t *to, size_t count, const char *key, const cJSON *json)
{
    pmix_info_t info[4];
    bool yes = true;
    if (control_info_load(&info[0], key, json))
        return;
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    for (size_t i = 0; i < count; i++) {
        PMIX_INFO_LOAD(&info[3], PMIX_EVENT_CUSTOM_RANGE, &to[i], PMIX_PROC);
        PMIx_Notify_event(CONTROL_EVENT, &control_server.self, PMIX_RANGE_CUSTOM, info, 4, notified, NULL);
        PMIX_INFO_DESTRUCT(&info[3]);
    }
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

int control_send(int process, const cJSON *message)
{
    pmix_proc_t *members;
    if (control_server_enter())
        return -1;
    size_t count = control_peers_list(CONTROL_MEMBERS, process, &members);
    notify(members, count, CONTROL_KEY_MESSAGE, message);
    free(members);
    control_server_leave();
    return count > 0 || process == CONTROL_ALL ? 0 : -1;
}

int control_members(void)
{
    pmix_proc_t *members;
    size_t count = control_peers_list(CONTROL_MEMBERS, CONTROL_ALL, &members);
    free(members);
    return (int)count;
}

void control_dismiss(const cJSON *message, int timeout_ms)
{
    control_send(CONTROL_ALL, message);
    control_peers_drain(timeout_ms);
}

void control_publish(const cJSON *event)
{
    pmix_proc_t *watchers;
    if (control_server_enter())
        return;
    size_t count = control_peers_list(CONTROL_WATCHERS, CONTROL_ALL, &watchers);
    notify(watchers, count, CONTROL_KEY_MESSAGE, event);
    free(watchers);
    control_server_leave();
}

int control_advertise(const char *job_id, const cJSON *job, struct error *error)
{
    char path[sizeof control_server.jobfile];
    if (control_jobfile_write(job_id, job, control_server.uri, control_server.token, path, sizeof path, error))
        return -1;
    strcpy(control_server.jobfile, path);
    return 0;
}

const char *control_address_file(void)
{
    return control_server.jobfile;
}

void control_unadvertise(void)
{
    if (control_server.jobfile[0])
        unlink(control_server.jobfile);
    control_server.jobfile[0] = '\0';
}

/* No new user gets in, and those inside are through. */
static void close_server(void)
{
    pthread_mutex_lock(&control_server.lock);
    control_server.open = false;
    while (control_server.users > 0)
        pthread_cond_wait(&control_server.idle, &control_server.lock);
    pthread_mutex_unlock(&control_server.lock);
}

/* PMIx finalizes with a warning of libevent's if an answer is still on its way out, so those who said goodbye get
 * theirs and close the connection first. */
static void wait_until_closed(int timeout_ms)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int waited = 0; waited < timeout_ms && control_sockets_open(control_server.uri); waited++)
        nanosleep(&pause, NULL);
}

/* Tells everybody, and takes the job off the list. */
static void say_goodbye(void)
{
    pmix_proc_t *everybody;
    control_unadvertise();
    control_requests_end();
    size_t count = control_peers_list(CONTROL_EVERYBODY, CONTROL_ALL, &everybody);
    notify(everybody, count, CONTROL_KEY_BYE, NULL);
    free(everybody);
}

void control_unserve(int timeout_ms)
{
    if (control_server_enter())
        return;
    pthread_mutex_lock(&control_server.lock);
    control_server.ending = true;
    pthread_mutex_unlock(&control_server.lock);
    say_goodbye();
    control_server_leave();
    control_peers_drain(timeout_ms);
    /* A request that arrives while PMIx finalizes would hang both, so the rest is cut off first. */
    control_admission_close();
    wait_until_closed(CUT_OFF_MS);
    control_sockets_shut(control_server.uri);
    control_peers_drain(CUT_OFF_MS);
    wait_until_closed(CUT_OFF_MS);
    close_server();
    PMIx_server_finalize();
    control_peers_forget();
    control_rundir_remove(control_server.tmpdir);
    control_leave_nothing();
}
