/* The requests of epopctl. */
#include "runtime/coordinator/requests.h"

#include <stdio.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/balance.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/liveness.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/sets.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/status.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

static bool is_ending(const struct coordinator *c)
{
    return c->stop.asked || c->ending.finished;
}

static void take_pause(struct coordinator *c, void *handle)
{
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

static void take_resume(struct coordinator *c, void *handle)
{
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
    halts_end(c, reason);
    rollcall_check(c);
    stop_ask(c, by);
}

static void take_stop(struct coordinator *c, void *handle, const struct request_stop *request)
{
    if (request->force) {
        stop_force(c, handle, request->asker);
        return;
    }
    requests_stop(c, "epopctl stop");
    stop_answer(c, handle);
}

static void take_cancel(struct coordinator *c, void *handle)
{
    const char *why = !adaptation_pending(c)                ? "no resize is pending"
                      : adaptation_is(c, ADAPTATION_WINDOW) ? "it is too late: data is being moved"
                      : preconnect_goes_on(c)      ? "it is too late: the joining processes are being connected"
                      : adaptation_is_for_phase(c) ? "the phase cannot run without it"
                      : releases_must(c)           ? "a host was told to end by SIGTERM"
                                                   : NULL;
    char silent[200], text[320];
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

static void take_note(struct coordinator *c, void *handle, const struct request_note *request)
{
    char line[420];
    snprintf(line, sizeof line, "note: %s", request->text);
    c->config.ops->say(c->config.context, line, false);
    reply_send(c, &handle, reply_accepted("done"));
}

static void take_status(struct coordinator *c, void *handle)
{
    if (c->ending.finished) { /* the program may be unloaded by now, and with it what a status tells of it */
        reply_send(c, &handle, reply_refusal("ended", "the job has ended"));
        return;
    }
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddItemToObject(reply, "job", status_json(c));
    reply_send(c, &handle, reply);
}

/* ---- The table ----------------------------------------------------------------------------------- */

/* Hands what was decoded to who takes it; BARE: there is nothing in it. */
#define TAKES_REQUEST(name, function)                                                                                  \
    static void take_##name##_row(struct coordinator *c, void *handle, const void *request)                            \
    {                                                                                                                  \
        function(c, handle, (const struct request_##name *)request);                                                   \
    }
#define TAKES_BARE(name, function)                                                                                     \
    static void take_##name##_row(struct coordinator *c, void *handle, const void *request)                            \
    {                                                                                                                  \
        (void)request;                                                                                                 \
        function(c, handle);                                                                                           \
    }
TAKES_BARE(status, take_status)
TAKES_BARE(where, survey_request)
TAKES_REQUEST(measure, measure_request)
TAKES_REQUEST(resize, resize_from_tool)
TAKES_REQUEST(balance, balance_request)
TAKES_BARE(pause, take_pause)
TAKES_BARE(resume, take_resume)
TAKES_REQUEST(checkpoint, checkpoint_request)
TAKES_REQUEST(stop, take_stop)
TAKES_BARE(cancel, take_cancel)
TAKES_REQUEST(note, take_note)
TAKES_REQUEST(psets, sets_request)
TAKES_REQUEST(break, breaks_set)
TAKES_BARE(step, breaks_step)
TAKES_BARE(continue, breaks_continue)

static const struct request {
    void (*take)(struct coordinator *c, void *handle, const void *request);
    enum request_wait waits;
} table[MESSAGE_IDS] = {
    [request_status_id] = {take_status_row, WAITS_FOR_PROGRESS},
    [request_where_id] = {take_where_row, WAITS_NOT},
    [request_measure_id] = {take_measure_row, WAITS_NOT},
    [request_resize_id] = {take_resize_row, WAITS_FOR_POSITION},
    [request_balance_id] = {take_balance_row, WAITS_NOT},
    [request_pause_id] = {take_pause_row, WAITS_NOT},
    [request_resume_id] = {take_resume_row, WAITS_NOT},
    [request_checkpoint_id] = {take_checkpoint_row, WAITS_NOT},
    [request_stop_id] = {take_stop_row, WAITS_NOT},
    [request_cancel_id] = {take_cancel_row, WAITS_NOT},
    [request_note_id] = {take_note_row, WAITS_NOT},
    [request_psets_id] = {take_psets_row, WAITS_NOT},
    [request_break_id] = {take_break_row, WAITS_NOT},
    [request_step_id] = {take_step_row, WAITS_NOT},
    [request_continue_id] = {take_continue_row, WAITS_NOT},
};

/* At the end nobody is asked any more. */
enum request_wait requests_waits(const struct coordinator *c, const cJSON *request)
{
    enum message_id id = message_named(KIND_REQUEST, request);
    return id != MESSAGE_NONE && !c->ending.finished ? table[id].waits : WAITS_NOT;
}

void requests_take(struct coordinator *c, void *handle, const cJSON *request)
{
    struct message message;
    struct error why;
    if (!message_decode(&message, KIND_REQUEST, request, &why))
        reply_send(c, &handle, reply_refusal("refused", why.text));
    else if (!table[message.id].take)
        reply_send(c, &handle, reply_refusal("refused", "that is not for the coordinator of a job"));
    else
        table[message.id].take(c, handle, message.is);
    message_free(&message);
}
