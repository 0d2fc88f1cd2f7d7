/* The requests of epopctl: see requests.h. */
#include "runtime/coordinator/requests.h"

#include <stdio.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/breaks.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/pause.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/publish.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/sets.h"
#include "runtime/coordinator/silence.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/status.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/stops.h"
#include "runtime/coordinator/survey.h"
#include "runtime/coordinator/waiters.h"
#include "runtime/wire/messages.h"

static bool is_ending(const struct coordinator *c)
{
    return c->stop.asked || c->ending.finished;
}

static void take_pause(struct coordinator *c, void *handle, const cJSON *request)
{
    (void)request;
    if (is_ending(c))
        reply_send(c, &handle, reply_refusal("refused", "the job is ending"));
    else if (c->config.sessions)
        reply_send(
            c, &handle,
            reply_refusal("refused", "this program has MPI sessions alone, and no probe at which it could wait"));
    else if (c->pause.on)
        reply_send(c, &handle, reply_accepted("done"));
    else if (c->pause.asked)
        reply_send(c, &handle, reply_refusal("refused", "a pause is being agreed already"));
    else
        pause_ask(c, handle);
}

static void take_resume(struct coordinator *c, void *handle, const cJSON *request)
{
    (void)request;
    if (!c->pause.asked) {
        reply_send(c, &handle, reply_refusal("refused", "the job is not paused"));
        return;
    }
    pause_end(c, "failed", "resumed before the pause was agreed");
    publish_event(c, "resumed", NULL, NULL);
    reply_send(c, &handle, reply_accepted("done"));
}

void requests_stop(struct coordinator *c, const char *by)
{
    static const char reason[] = "the job was told to stop";
    if (is_ending(c))
        return;
    if (adaptation_pending(c) && !adaptation_is_for_phase(c) && !preconnect_goes_on(c))
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    releases_end(c, "failed", reason);
    pause_end(c, "failed", reason);
    stops_end(c, reason);
    rollcall_check(c);
    stop_ask(c, by);
}

static void take_stop(struct coordinator *c, void *handle, const cJSON *request)
{
    if (json_true(request, "force")) {
        stop_force(c, handle, request);
        return;
    }
    requests_stop(c, "epopctl stop");
    stop_answer(c, handle);
}

static void take_cancel(struct coordinator *c, void *handle, const cJSON *request)
{
    const char *why = !adaptation_pending(c)                ? "no resize is pending"
                      : adaptation_is(c, ADAPTATION_WINDOW) ? "it is too late: data is being moved"
                      : preconnect_goes_on(c)      ? "it is too late: the joining processes are being connected"
                      : adaptation_is_for_phase(c) ? "the phase cannot run without it"
                      : releases_must(c)           ? "a host was told to end by SIGTERM"
                                                   : NULL;
    char silent[200], text[320];
    (void)request;
    if (why && adaptation_pending(c) && silence_describe(c, silent, sizeof silent)) {
        snprintf(text, sizeof text, "%s; %s; epopctl stop ends the job", why, silent);
        why = text;
    }
    if (why) {
        reply_send(c, &handle, reply_refusal("refused", why));
        return;
    }
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "withdrawn");
    reply_send(c, &handle, reply_accepted("done"));
}

static void take_status(struct coordinator *c, void *handle, const cJSON *request)
{
    (void)request;
    if (c->ending.finished) { /* the program may be unloaded by now, and with it what a status tells of it */
        reply_send(c, &handle, reply_refusal("ended", "the job has ended"));
        return;
    }
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddItemToObject(reply, "job", status_json(c));
    reply_send(c, &handle, reply);
}

static const struct request {
    struct message_form form;
    void (*take)(struct coordinator *c, void *handle, const cJSON *request);
    enum request_wait waits;
} table[] = {
    {{REQUEST_STATUS, {{0}}}, take_status, WAITS_FOR_PROGRESS},
    {{REQUEST_WHERE, {{0}}}, survey_request, WAITS_NOT},
    {{REQUEST_MEASURE, {{0}}}, measure_request, WAITS_NOT},
    {{REQUEST_RESIZE, {{0}}}, resize_request, WAITS_FOR_POSITION},
    {{REQUEST_PAUSE, {{0}}}, take_pause, WAITS_NOT},
    {{REQUEST_RESUME, {{0}}}, take_resume, WAITS_NOT},
    {{REQUEST_CHECKPOINT, {{0}}}, checkpoint_request, WAITS_NOT},
    {{REQUEST_STOP, {{0}}}, take_stop, WAITS_NOT},
    {{REQUEST_CANCEL, {{0}}}, take_cancel, WAITS_NOT},
    {{REQUEST_PSETS, {{"about", cJSON_String}}}, sets_request, WAITS_NOT},
    {{REQUEST_BREAK, {{"at", cJSON_String}}}, breaks_set, WAITS_NOT},
    {{REQUEST_STEP, {{0}}}, breaks_step, WAITS_NOT},
    {{REQUEST_CONTINUE, {{0}}}, breaks_continue, WAITS_NOT},
};

static const struct request *find(const cJSON *request)
{
    return message_find(table, sizeof table / sizeof *table, sizeof *table, request);
}

/* At the end nobody is asked any more. */
enum request_wait requests_waits(const struct coordinator *c, const cJSON *request)
{
    const struct request *row = find(request);
    return row && !c->ending.finished ? row->waits : WAITS_NOT;
}

void requests_take(struct coordinator *c, void *handle, const cJSON *request)
{
    const struct request *row = find(request);
    struct error why = {0};
    if (row && message_fits(&row->form, request, &why))
        row->take(c, handle, request);
    else
        reply_send(c, &handle,
                   reply_refusal("refused", row ? why.text : "unknown request; this job's EPOP does not know it"));
}

void requests_abandoned(struct coordinator *c, const void *handle)
{
    if (adaptation_pending(c))
        waiters_abandoned(c, &adaptation_pending(c)->waiters, handle);
    releases_abandoned(c, handle);
    departures_abandoned(c, handle);
    survey_abandoned(c, handle);
    measure_abandoned(c, handle);
    pause_abandoned(c, handle);
    checkpoint_abandoned(c, handle);
    stop_abandoned(c, handle);
    stops_abandoned(c, handle);
    inquiries_abandoned(c, handle);
}
