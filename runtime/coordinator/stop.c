/* Stop, and stop by force. */
#include "runtime/coordinator/stop.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/survey.h"

#define ANSWER_LIMIT   1.0  /* seconds */
#define WITHDRAW_LIMIT 4.0  /* seconds */
#define SAY_AFTER      12.0 /* seconds; a rank that does not answer has been given up by then (liveness.h) */
#define FORCE_LIMIT    1.0  /* seconds */
#define TAKEN_LOOK     1.0  /* seconds */
#define TAKEN_LIMIT    10.0 /* seconds; for those that a change takes to finalize their sessions */
#define PLACES_MAX     800

bool stop_is_wanted(const struct coordinator *c)
{
    return c->stop.asked && !c->stop.sent;
}

void stop_ask(struct coordinator *c, const char *by)
{
    c->stop.asked = true;
    c->stop.by = by;
    c->stop.since = monotonic_seconds();
    timers_set(&c->timers, &c->stop.look, SAY_AFTER);
    if (c->config.sessions)
        timers_set(&c->timers, &c->stop.taken, TAKEN_LOOK);
    publish_event(c, "stopping", NULL, NULL);
}

void stop_answer(struct coordinator *c, void *handle)
{
    reply_send(c, &c->stop.handle, reply_accepted("accepted")); /* an earlier one has waited less than a second */
    c->stop.handle = handle;
    if (c->ending.finished)
        reply_send(c, &c->stop.handle, reply_accepted("done"));
    else
        timers_set(&c->timers, &c->stop.look, ANSWER_LIMIT);
}

void stop_withdraw(struct coordinator *c, const char *reason)
{
    c->stop.asked = c->stop.said = c->stop.looks = false;
    timers_cancel(&c->timers, &c->stop.look);
    timers_cancel(&c->timers, &c->stop.taken);
    reply_send(c, &c->stop.handle, reply_refusal("refused", reason));
    publish_event(c, "refused", NULL, reason);
}

void stop_is_decided(struct coordinator *c)
{
    c->stop.sent = true;
    reply_send(c, &c->stop.handle, reply_accepted("accepted"));
}

/* The program has ended, by that or by itself. */
static void stop_finished(struct coordinator *c, const char *reason)
{
    (void)reason;
    timers_cancel(&c->timers, &c->stop.look);
    reply_send(c, &c->stop.handle, reply_accepted("accepted"));
}

void stop_cannot_be(struct coordinator *c, const char *reason)
{
    char text[300];
    snprintf(text, sizeof text, "%.200s: the job, which was told to stop, ends", reason);
    fatal(c, text);
}

static void stop_abandoned(struct coordinator *c, const void *handle)
{
    if (c->stop.handle == handle)
        reply_send(c, &c->stop.handle, reply_refusal("failed", "the requester has gone"));
}

/* ---- Whom it waits for --------------------------------------------------------------------------- */

static bool is_waited_for(const struct coordinator *c, const struct process *p)
{
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return !p->through;
    if (p->rank < 0 || p->ended)
        return false;
    if (c->agreement.state == AGREEMENT_FREEZING)
        return !p->answered;
    return c->agreement.state != AGREEMENT_TARGET || !p->arrived;
}

static void answer(struct coordinator *c, const char *text)
{
    cJSON *reply = reply_accepted("accepted");
    if (text[0])
        cJSON_AddStringToObject(reply, "note", text);
    reply_send(c, &c->stop.handle, reply);
}

static void say(struct coordinator *c, const char *text)
{
    char line[PLACES_MAX + 120];
    c->stop.said = true;
    snprintf(line, sizeof line, "told to stop (%s): %s", c->stop.by, text);
    c->config.ops->say(c->config.context, line, false);
}

static void tell_whom(struct coordinator *c)
{
    char places[PLACES_MAX], text[PLACES_MAX + 80] = "";
    double since = monotonic_seconds() - c->stop.since;
    whereabouts_describe(c, is_waited_for, places, sizeof places);
    if (places[0])
        snprintf(text, sizeof text, "it waits for %s; epopctl stop --force ends it at once", places);
    if (c->stop.handle)
        answer(c, text);
    if (since < SAY_AFTER)
        timers_set(&c->timers, &c->stop.look, SAY_AFTER - since);
    else if (text[0] && !c->stop.said)
        say(c, text);
}

/* Ranks that hold for others may soon turn out to wait for each other (liveness.h). */
static bool may_be_withdrawn(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (c->agreement.state == AGREEMENT_TARGET && process_of_rank(c, r)->arrived)
            return monotonic_seconds() - c->stop.since < WITHDRAW_LIMIT;
    return false;
}

static void look(void *context)
{
    struct coordinator *c = context;
    if (c->ending.finished)
        return;
    if (c->stop.handle && may_be_withdrawn(c)) {
        timers_set(&c->timers, &c->stop.look, ANSWER_LIMIT);
        return;
    }
    c->stop.looks = true;
    survey_begin(c);
}

/* ---- Those that a change takes ------------------------------------------------------------------- */

static const struct process *find_taken(const struct coordinator *c)
{
    for (int i = 0; i < c->processes.count; i++) {
        const struct process *p = process_at(c, i);
        if (p->state == PROCESS_LEAVING && !p->through)
            return p;
    }
    return NULL;
}

/* The ranks meet only when the change is complete, which is when these have finalized their sessions. */
static void look_at_taken(void *context)
{
    struct coordinator *c = context;
    char text[400];
    if (c->ending.finished || !stop_is_wanted(c))
        return;
    timers_set(&c->timers, &c->stop.taken, TAKEN_LOOK);
    const struct process *p =
        adaptation_is(c, ADAPTATION_WINDOW) && adaptation_awaits_leavers(c) ? find_taken(c) : NULL;
    if (!p) {
        c->stop.taken_since = 0;
        return;
    }
    snprintf(text, sizeof text, "process %d (pid %d on %s), which a change takes, has not finalized its sessions",
             process_number(c, p), p->pid, p->host);
    if (!c->stop.taken_since) {
        c->stop.taken_since = monotonic_seconds();
        snprintf(text + strlen(text), sizeof text - strlen(text), "; without that the job ends in %g s", TAKEN_LIMIT);
        say(c, text);
    } else if (monotonic_seconds() - c->stop.taken_since >= TAKEN_LIMIT) {
        stop_cannot_be(c, text);
    }
}

/* ---- By force ------------------------------------------------------------------------------------ */

static void end_by_force(void *context)
{
    struct coordinator *c = context;
    char places[PLACES_MAX], text[PLACES_MAX + 240];
    bool over = c->ending.finished;
    if (over)
        departures_describe_missed(c, places, sizeof places);
    else
        whereabouts_describe(c, NULL, places, sizeof places);
    snprintf(text, sizeof text, "ended by epopctl stop --force%s%s: %s%s", c->stop.by_force[0] ? ", " : "",
             c->stop.by_force, over ? "the program has ended, and the job waited for " : "", places);
    fatal(c, text);
}

void stop_force(struct coordinator *c, void *handle, const char *by)
{
    reply_send(c, &handle, reply_accepted("accepted"));
    if (c->stop.forced)
        return;
    c->stop.forced = true;
    snprintf(c->stop.by_force, sizeof c->stop.by_force, "%s", by ? by : "");
    publish_event(c, "stopping", NULL, "by force");
    if (c->ending.finished)
        end_by_force(c); /* nobody looks at timers any more */
    timers_set(&c->timers, &c->stop.force, FORCE_LIMIT);
    survey_begin(c);
}

static void surveyed(struct coordinator *c)
{
    if (c->stop.forced)
        end_by_force(c);
    if (c->stop.looks && !c->ending.finished)
        tell_whom(c);
    c->stop.looks = false;
}

static void stop_init(struct coordinator *c)
{
    timer_init(&c->stop.look, look, c, &c->limits);
    timer_init(&c->stop.force, end_by_force, c, NULL);
    timer_init(&c->stop.taken, look_at_taken, c, &c->limits);
    survey_tell(c, surveyed);
}

const struct part stop_part = {.init = stop_init, .abandoned = stop_abandoned, .end = stop_finished};
