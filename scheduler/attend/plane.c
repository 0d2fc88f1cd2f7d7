/* Finding, attaching, asking: see plane.h. */
#include "scheduler/attend/plane.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/control/call.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/wire/messages.h"
#include "runtime/control/rundir.h"
#include "runtime/control/tool.h"
#include "scheduler/attend/asked.h"

/* Seconds between looks for the address file: at first, and when the job has none after 10 s. */
static const double soon = 0.02, seldom = 0.5, young = 10, again = 1;
enum { ATTACH_MS = 600000 }; /* PMIx gives up by itself before; a second attempt meanwhile would do harm */

enum { LETTER_ATTACHED, LETTER_FAILED, LETTER_EVENT, LETTER_ANSWER, LETTER_GONE, LETTER_LOST, LETTER_LEFT };

/* ---- On PMIx's threads, and those that wait for it --------------------------------------------- */

static void on_message(void *context, const cJSON *event)
{
    struct plane *plane = context;
    char *text = cJSON_PrintUnformatted(event);
    if (text)
        mail_put(&plane->mail, LETTER_EVENT, 0, text);
    free(text);
}

static void on_gone(void *context)
{
    struct plane *plane = context;
    mail_put(&plane->mail, LETTER_GONE, 0, NULL);
}

static void on_lost(void *context)
{
    struct plane *plane = context;
    mail_put(&plane->mail, LETTER_LOST, 0, NULL);
}

static void *attach(void *context)
{
    static const struct control_tool_ops ops = {.message = on_message, .ending = on_gone, .lost = on_lost};
    struct plane *plane = context;
    struct error error;
    int failed = control_tool_attach(plane->job.uri, plane->nspace, &ops, plane, ATTACH_MS, &error);
    mail_put(&plane->mail, failed ? LETTER_FAILED : LETTER_ATTACHED, 0, NULL);
    return NULL;
}

static void *leave(void *context)
{
    struct plane *plane = context;
    control_tool_detach();
    mail_put(&plane->mail, LETTER_LEFT, 0, NULL);
    return NULL;
}

struct call {
    struct plane *plane;
    int64_t number;
};

static void answered(pmix_status_t status, pmix_info_t *info, size_t count, void *cbdata, pmix_release_cbfunc_t release,
                     void *release_cbdata)
{
    struct call *call = cbdata;
    const char *text = control_info_text(info, count, CONTROL_KEY_ANSWER);
    mail_put(&call->plane->mail, LETTER_ANSWER, call->number, text ? text : PMIx_Error_string(status));
    if (release)
        release(release_cbdata);
    free(call);
}

/* ---- Finding the job ---------------------------------------------------------------------------- */

/* The directories as they are: nothing is read where nothing has changed. */
static long long look_at_directories(void)
{
    char paths[CONTROL_RUNDIRS_MAX][256];
    int count = control_rundirs(paths);
    long long sum = count;
    for (int i = 0; i < count; i++) {
        struct stat status;
        if (!stat(paths[i], &status))
            sum = sum * 31 + status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
    }
    return sum;
}

static bool is_it(const struct plane *plane, const struct control_job *job)
{
    if (!plane->batch)
        return !strcmp(job->id, plane->id);
    return !strcmp(job->batch, plane->batch) && strcmp(job->id, plane->over);
}

static bool find(struct plane *plane)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs);
    bool found = false;
    for (int i = 0; i < count && !found; i++)
        if ((found = is_it(plane, &jobs[i])))
            plane->job = jobs[i];
    free(jobs);
    return found;
}

static void look_in(struct plane *plane, double seconds)
{
    timers_set(&plane->loop->timers, &plane->look, seconds);
}

/* A change within the clock's tick of a look would be missed, so a look is repeated once. */
static void look(void *context)
{
    struct plane *plane = context;
    long long now = look_at_directories();
    bool changed = now != plane->seen;
    look_in(plane, monotonic_seconds() - plane->since < young ? soon : seldom);
    if (!changed && plane->unchanged++ > 1)
        return;
    if (changed)
        plane->unchanged = 0;
    plane->seen = now;
    if (!find(plane))
        return;
    timers_cancel(&plane->loop->timers, &plane->look);
    control_nspace_client(plane->nspace, plane->job.token);
    plane->state = PLANE_ATTACHES;
    if (thread_start(NULL, attach, plane))
        mail_put(&plane->mail, LETTER_FAILED, 0, NULL);
}

static void seek(struct plane *plane, double seconds)
{
    plane->state = PLANE_SEEKS;
    plane->seen = -1;
    if (!plane->closed)
        look_in(plane, seconds);
}

/* ---- What came --------------------------------------------------------------------------------- */

static void begin(struct plane *plane)
{
    cJSON *watch = json_message(REQUEST_WATCH);
    plane->state = PLANE_ATTACHED;
    plane->lost = false;
    plane_ask(plane, 0, watch);
    cJSON_Delete(watch);
    plane->ops->attached(plane->context, plane->job.id);
}

static void end(struct plane *plane, bool lost)
{
    if (plane->state != PLANE_ATTACHED)
        return;
    plane->state = PLANE_LEAVES;
    plane->lost = lost;
    snprintf(plane->over, sizeof plane->over, "%s", plane->job.id);
    plane->ops->detached(plane->context);
    if (thread_start(NULL, leave, plane))
        mail_put(&plane->mail, LETTER_LEFT, 0, NULL);
}

/* What is no JSON is a word of PMIx. */
static void take_answer(struct plane *plane, const struct letter *letter)
{
    cJSON *answer = letter->text ? cJSON_Parse(letter->text) : NULL;
    char reason[200];
    if (!letter->number) {
        cJSON_Delete(answer);
        return;
    }
    snprintf(reason, sizeof reason, "the job does not understand: %.150s", letter->text ? letter->text : "");
    if (!cJSON_IsObject(answer)) {
        cJSON_Delete(answer);
        answer = asked_refusal("failed", reason);
    }
    plane->ops->answer(plane->context, letter->number, answer);
}

static void take(struct plane *plane, const struct letter *letter)
{
    switch (letter->kind) {
    case LETTER_ATTACHED:
        begin(plane);
        break;
    case LETTER_FAILED:
        seek(plane, again);
        break;
    case LETTER_EVENT:
        plane->ops->event(plane->context, letter->text);
        break;
    case LETTER_ANSWER:
        take_answer(plane, letter);
        break;
    case LETTER_GONE:
    case LETTER_LOST:
        end(plane, letter->kind == LETTER_LOST);
        break;
    default:
        seek(plane, soon);
    }
}

static void ready(void *context, short events)
{
    struct plane *plane = context;
    (void)events;
    for (struct letter *letter; (letter = mail_take(&plane->mail));) {
        take(plane, letter);
        mail_free(letter);
    }
}

/* ---- For the attendant ------------------------------------------------------------------------- */

int plane_open(struct plane *plane, struct error *error)
{
    control_prepare();
    timer_init(&plane->look, look, plane, NULL);
    plane->watched = (struct watched){.fd = -1, .events = POLLIN, .ready = ready, .context = plane};
    if (mail_open(&plane->mail) || (plane->watched.fd = plane->mail.fd, loop_add(plane->loop, &plane->watched)))
        return error_set(error, ERROR_FAILED, "no descriptor or no memory for the control plane");
    plane->since = monotonic_seconds();
    seek(plane, 0);
    return 0;
}

void plane_close(struct plane *plane)
{
    plane->closed = true;
    timers_cancel(&plane->loop->timers, &plane->look);
}

int plane_ask(struct plane *plane, int64_t number, const cJSON *request)
{
    struct call *call = plane->state == PLANE_ATTACHED ? calloc(1, sizeof *call) : NULL;
    if (!call)
        return -1;
    *call = (struct call){plane, number};
    if (control_call(request, plane->nspace, answered, call) == PMIX_SUCCESS)
        return 0;
    free(call);
    return -1;
}
