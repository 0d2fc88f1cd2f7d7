/* The requests break, step and continue: see breaks.h. */
#include "runtime/coordinator/breaks.h"

#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"
#include "runtime/wire/messages.h"

/* Why none of them can be met; NULL: it can. */
static const char *refuses(const struct coordinator *c)
{
    return !c->config.rollcall ? "the job does not run under the debug driver; start it with --driver debug"
           : c->stop.asked || c->ending.finished ? "the job is ending"
                                                 : NULL;
}

static cJSON *add(struct coordinator *c, void **handle, const struct breakpoint *b, bool waits)
{
    if (stops_add(c, b))
        return reply_refusal("refused", "there are too many breaks; remove one");
    if (waits && stops_await(c, *handle))
        return reply_refusal("refused", "another epopctl waits for the next stop");
    if (waits)
        return NULL;
    cJSON *reply = reply_accepted("accepted");
    if (b->rank >= c->processes.size)
        cJSON_AddStringToObject(reply, "note", "there is no such rank yet");
    return reply;
}

static cJSON *take_out(struct coordinator *c, const struct breakpoint *b)
{
    return stops_remove(c, b) ? reply_refusal("refused", "there is no such break") : reply_accepted("done");
}

void breaks_set(struct coordinator *c, void *handle, const struct request_break *request)
{
    struct error why = {0};
    struct breakpoint b;
    cJSON *reply;
    if (refuses(c))
        reply = reply_refusal("refused", refuses(c));
    else if (epop__breakpoint_parse(c->config.program, request->at, &b, &why))
        reply = reply_refusal("refused", why.text);
    else
        reply = request->remove ? take_out(c, &b) : add(c, &handle, &b, request->wait);
    if (reply)
        reply_send(c, &handle, reply);
}

static void go_on(struct coordinator *c, void *handle, bool step)
{
    const char *why = refuses(c);
    if (!why && !stops_are_on(c))
        why = "the ranks are not stopped; epopctl break stops them";
    if (why) {
        reply_send(c, &handle, reply_refusal("refused", why));
        return;
    }
    if (!step || stops_await(c, handle))
        reply_send(c, &handle, reply_accepted("done"));
    stops_release(c, step);
    rollcall_check(c);
}

void breaks_step(struct coordinator *c, void *handle)
{
    go_on(c, handle, true);
}

void breaks_continue(struct coordinator *c, void *handle)
{
    go_on(c, handle, false);
}
