/* A connection to one job. */
#include "epopctl/client.h"

#include <pmix_tool.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/late.h"
#include "epopctl/output.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/control/call.h"
#include "runtime/wire/messages.h"
#include "runtime/control/token.h"
#include "runtime/control/tool.h"
#include "runtime/control/waiter.h"

#define LOOK_MS 1000 /* between looks at the job's process */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char nspace[CONTROL_NSPACE_MAX];
    ctl_event_fn event;
    void *context;
    bool ended; /* the job said goodbye, or the connection is gone */
    const struct control_job *job;
    struct control_waiter *asking;
    bool quiet;  /* what fails now is no news */
    bool silent; /* it left the last request unanswered: there is no point in a goodbye */
} client = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_message(void *context, const cJSON *event)
{
    (void)context;
    if (client.event)
        client.event(client.context, event);
}

void ctl_end(void)
{
    pthread_mutex_lock(&client.lock);
    client.ended = true;
    pthread_cond_broadcast(&client.changed);
    pthread_mutex_unlock(&client.lock);
}

static void on_end(void *context)
{
    (void)context;
    ctl_end();
}

/* PMIx forgets requests whose answer cannot come any more. */
static void on_loss(void *context)
{
    (void)context;
    ctl_end();
    pthread_mutex_lock(&client.lock);
    if (client.asking)
        control_waiter_interrupt(client.asking);
    pthread_mutex_unlock(&client.lock);
}

static void set_asking(struct control_waiter *waiter)
{
    pthread_mutex_lock(&client.lock);
    client.asking = waiter;
    pthread_mutex_unlock(&client.lock);
}

int ctl_connect(const struct control_job *job, ctl_event_fn event, void *context, int timeout_ms)
{
    static const struct control_tool_ops ops = {.message = on_message, .ending = on_end, .lost = on_loss};
    struct error error = {0};
    client.event = event;
    client.context = context;
    client.job = job;
    control_nspace_client(client.nspace, job->token);
    if (!control_tool_attach(job->uri, client.nspace, &ops, NULL, timeout_ms, &error))
        return CTL_DONE;
    bool listed = control_job_listed(job);
    if (!client.quiet && listed)
        ctl_complain("%s on %s: %s", job->id, job->host, error.text);
    else if (!client.quiet)
        ctl_complain("%s: the job has ended", job->id);
    return listed && error.code == ERROR_TIMEOUT ? CTL_TIMEOUT : CTL_NO_JOB;
}

int ctl_connect_quietly(const struct control_job *job, int timeout_ms)
{
    client.quiet = true;
    int code = ctl_connect(job, NULL, NULL, timeout_ms);
    client.quiet = false;
    return code;
}

void ctl_disconnect(void)
{
    if (!client.silent)
        control_tool_detach();
}

/* ---- Asking ------------------------------------------------------------------------ */

static cJSON *read_answer(pmix_status_t status, const char *text, int *code)
{
    cJSON *answer = text ? cJSON_Parse(text) : NULL;
    if (answer)
        return answer;
    bool ended = false;
    *code = CTL_NO_JOB;
    if (!ctl_wait_end(0) || status == PMIX_ERR_UNREACH || status == PMIX_ERR_LOST_CONNECTION ||
        !control_job_listed(client.job))
        ended = true;
    if (!client.quiet && ended)
        ctl_complain("the job has ended");
    else if (!client.quiet)
        ctl_complain("the job does not understand: %s", PMIx_Error_string(status));
    return NULL;
}

/* Looks at the job's process now and then: a process that it left behind may hold the connection open. 0, or -1 when
 * there was no answer in time. */
static int await_answer(struct control_waiter *waiter, int timeout_ms, pmix_status_t *status, char **text)
{
    double end = monotonic_seconds() + timeout_ms / 1e3;
    for (double left; (left = end - monotonic_seconds()) > 0;) {
        int some = left * 1e3 < LOOK_MS ? (int)(left * 1e3) + 1 : LOOK_MS;
        if (!control_waiter_wait(waiter, some, status, text))
            return 0;
        if (!control_job_alive(client.job)) {
            *status = PMIX_ERR_LOST_CONNECTION;
            client.silent = true;
            return 0;
        }
    }
    return -1;
}

/* The answer, or NULL with the exit code in *code. */
static cJSON *ask(struct control_waiter *waiter, const cJSON *request, int timeout_ms, int *code)
{
    char *text = NULL;
    client.silent = false;
    set_asking(waiter);
    pmix_status_t status = control_call(request, client.nspace, control_waiter_answered, waiter);
    if (status != PMIX_SUCCESS)
        control_waiter_report(waiter, status, NULL);
    int late = await_answer(waiter, timeout_ms, &status, &text);
    set_asking(NULL);
    if (late) {
        client.silent = true;
        *code = CTL_TIMEOUT;
    }
    cJSON *answer = late ? NULL : read_answer(status, text, code);
    free(text);
    return answer;
}

cJSON *ctl_ask(const cJSON *request, int timeout_ms, int *code)
{
    struct control_waiter *waiter = control_waiter_new();
    if (!waiter) {
        ctl_complain("out of memory");
        *code = CTL_REFUSED;
        return NULL;
    }
    cJSON *answer = ask(waiter, request, timeout_ms, code);
    control_waiter_drop(waiter);
    if (!answer && *code == CTL_TIMEOUT && !client.quiet)
        ctl_complain_late(request, timeout_ms);
    return answer;
}

cJSON *ctl_ask_quietly(const cJSON *request, int timeout_ms, int *code)
{
    client.quiet = true;
    cJSON *answer = ctl_ask(request, timeout_ms, code);
    client.quiet = false;
    return answer;
}

int ctl_wait_end(int timeout_ms)
{
    struct timespec deadline = clock_in(CLOCK_MONOTONIC, timeout_ms / 1e3);
    int result = 0;
    pthread_mutex_lock(&client.lock);
    while (!client.ended && result == 0)
        result = timeout_ms < 0 ? pthread_cond_wait(&client.changed, &client.lock)
                                : pthread_cond_clockwait(&client.changed, &client.lock, CLOCK_MONOTONIC, &deadline);
    bool ended = client.ended;
    pthread_mutex_unlock(&client.lock);
    return ended ? 0 : -1;
}

cJSON *ctl_ask_job(const struct control_job *job, const cJSON *request, int timeout_ms, int *code)
{
    *code = ctl_connect(job, NULL, NULL, timeout_ms);
    if (*code != CTL_DONE)
        return NULL;
    cJSON *answer = ctl_ask(request, timeout_ms, code);
    ctl_disconnect();
    return answer;
}
