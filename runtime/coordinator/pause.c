/* Pause: see pause.h. */
#include "runtime/coordinator/pause.h"

#include "runtime/base/clock.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/publish.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/state.h"

bool pause_is_wanted(const struct coordinator *c)
{
    return c->pause.asked && !c->pause.on;
}

void pause_ask(struct coordinator *c, void *handle)
{
    c->pause.asked = true;
    c->pause.handle = handle;
}

void pause_reached(struct coordinator *c, const struct position *at)
{
    c->pause.on = true;
    c->pause.since = monotonic_seconds();
    timers_stop(&c->timers, &c->preparing);
    position_progress_came(c);
    cJSON *reply = reply_accepted("done");
    cJSON_AddNumberToObject(reply, "pc", at->pc);
    cJSON_AddStringToObject(reply, "element", names_element(c, at->pc));
    cJSON_AddNumberToObject(reply, "iteration", (double)at->iteration);
    reply_send(c, &c->pause.handle, reply);
    publish_event(c, "paused", NULL, NULL);
}

void pause_end(struct coordinator *c, const char *code, const char *reason)
{
    if (c->pause.on) {
        timers_go_on(&c->timers, &c->preparing);
        progress_stood(c, monotonic_seconds() - c->pause.since);
    }
    c->pause.on = c->pause.asked = false;
    c->pause.times++;
    reply_send(c, &c->pause.handle, reply_refusal(code, reason));
}

void pause_abandoned(struct coordinator *c, const void *handle)
{
    if (c->pause.handle == handle)
        reply_send(c, &c->pause.handle, reply_refusal("failed", "the requester has gone"));
}
