/* The connection to a job: connecting, asking, and waiting for its end. */
#include "epopctl/client.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "epopctl/command.h"
#include "runtime/base/json.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"

/* ---- The connection ----------------------------------------------------------------------------- */

enum { LOOK_MS = 1000 }; /* between looks at the job's process: a process that it left may hold the connection open */

static struct {
    struct event_base *base;
    struct wire_link *link;
    ctl_event_fn event;
    void *context;
    const struct control_job *job;
    bool tried, attached, ended; /* ended: the job said goodbye, or the connection is gone */
    intptr_t question;           /* the number of what was asked last */
    bool answered;               /* it is */
    cJSON *answer;
    struct error why; /* there is no answer, or no connection */
    bool quiet;       /* what fails now is no news */
} client;

static void on_client_attached(void *context, const struct error *why_not)
{
    (void)context;
    client.tried = true;
    client.attached = !why_not;
    if (why_not)
        client.why = *why_not;
    wire_wake(client.base);
}

static void on_client_event(void *context, const cJSON *event)
{
    (void)context;
    if (client.event)
        client.event(client.context, event);
}

void ctl_end(void)
{
    client.ended = true;
    wire_wake(client.base);
}

static void on_client_ended(void *context, bool lost)
{
    (void)context, (void)lost;
    ctl_end();
}

static bool attach_to_job(const struct control_job *job, int timeout_ms)
{
    static const struct wire_link_ops ops = {on_client_attached, on_client_event, on_client_ended};
    if (!client.base && !(client.base = wire_base_new()))
        return error_memory(&client.why), false;
    client.tried = client.attached = client.ended = false;
    client.link =
        wire_link_open(client.base, job->uri, job->token, WIRE_TOOL, 0, &ops, NULL, timeout_ms / 1e3, &client.why);
    if (client.link)
        wire_wait(client.base, &client.tried, -1); /* the link has a limit */
    if (client.attached)
        return true;
    ctl_disconnect();
    return false;
}

int ctl_connect(const struct control_job *job, ctl_event_fn event, void *context, int timeout_ms)
{
    client.event = event;
    client.context = context;
    client.job = job;
    if (attach_to_job(job, timeout_ms))
        return COMMAND_DONE;
    bool listed = control_job_listed(job);
    if (!client.quiet && listed)
        term_complain("%s on %s: %s", job->id, job->host, client.why.text);
    else if (!client.quiet)
        term_complain("%s: the job has ended", job->id);
    return listed && client.why.code == ERROR_TIMEOUT ? COMMAND_TIMEOUT : COMMAND_NO_JOB;
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
    if (client.link)
        wire_link_close(client.link);
    client.link = NULL;
}

/* ---- A job that has not answered in time: how it is, as far as it still tells ------------------- */

#define STATUS_LIMIT_MS 3000

/* "; its resize 2 -> 4 is preparing", of the last one, whatever has become of it; or nothing. */
static void describe_last_resize(const cJSON *status, char text[200])
{
    const cJSON *all = cJSON_GetObjectItem(status, "adaptations");
    const cJSON *last = cJSON_GetArrayItem(all, cJSON_GetArraySize(all) - 1);
    text[0] = 0;
    if (last)
        snprintf(text, 200, "; its last resize, %d -> %d, is %.40s", json_int(last, "from", 0), json_int(last, "to", 0),
                 term_text(last, "state", "unknown"));
}

/* One line on stderr: it was not answered within that time, and how the job is. */
static void complain_late(const cJSON *request, int timeout_ms)
{
    cJSON *question = json_message(REQUEST(status)), *answer = NULL;
    char resize[200];
    int code;
    if (strcmp(term_text(request, "op", ""), REQUEST(status)))
        answer = ctl_ask_quietly(question, STATUS_LIMIT_MS, &code);
    const cJSON *status = cJSON_GetObjectItem(answer, "job");
    describe_last_resize(status, resize);
    if (status)
        term_complain("no answer within %g s; the job is %s, with %d ranks%s", timeout_ms / 1e3,
                      term_text(status, "state", "?"), json_int(status, "size", 0), resize);
    else
        term_complain("no answer within %g s; nor does the job say how it is", timeout_ms / 1e3);
    cJSON_Delete(answer);
    cJSON_Delete(question);
}

/* ---- Asking ------------------------------------------------------------------------------------- */

/* One that comes late belongs to no question any more. */
static void on_client_answer(void *context, cJSON *answer, const struct error *why)
{
    if ((intptr_t)context != client.question) {
        cJSON_Delete(answer);
        return;
    }
    client.answered = true;
    client.answer = answer;
    if (why)
        client.why = *why;
    wire_wake(client.base);
}

/* The job's process is looked at now and then. */
static void await_answer_or_end(void)
{
    while (!wire_wait(client.base, &client.answered, LOOK_MS / 1e3))
        if (!control_job_alive(client.job)) {
            error_set(&client.why, ERROR_FAILED, "the job has ended");
            return;
        }
}

static void complain_of_no_answer(const cJSON *request, int timeout_ms, int code)
{
    if (code == COMMAND_TIMEOUT)
        complain_late(request, timeout_ms);
    else
        term_complain("the job has ended");
}

cJSON *ctl_ask(const cJSON *request, int timeout_ms, int *code)
{
    client.answered = false;
    client.answer = NULL;
    client.why.code = ERROR_NONE;
    if (!client.link ||
        wire_link_ask(client.link, request, timeout_ms / 1e3, on_client_answer, (void *)++client.question))
        error_memory(&client.why);
    else
        await_answer_or_end();
    if (client.answer)
        return client.answer;
    *code = client.why.code == ERROR_TIMEOUT  ? COMMAND_TIMEOUT
            : client.why.code == ERROR_MEMORY ? COMMAND_REFUSED
                                              : COMMAND_NO_JOB;
    if (!client.quiet)
        complain_of_no_answer(request, timeout_ms, *code);
    return NULL;
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
    return wire_wait(client.base, &client.ended, timeout_ms / 1e3) ? 0 : -1;
}

cJSON *ctl_ask_job(const struct control_job *job, const cJSON *request, int timeout_ms, int *code)
{
    *code = ctl_connect(job, NULL, NULL, timeout_ms);
    if (*code != COMMAND_DONE)
        return NULL;
    cJSON *answer = ctl_ask(request, timeout_ms, code);
    ctl_disconnect();
    return answer;
}

int ctl_code_of(const cJSON *answer)
{
    const char *code = term_text(answer, "code", "");
    if (json_true(answer, "ok"))
        return COMMAND_DONE;
    if (!strcmp(code, "timeout"))
        return COMMAND_TIMEOUT;
    return !strcmp(code, "ended") ? COMMAND_NO_JOB : COMMAND_REFUSED;
}
