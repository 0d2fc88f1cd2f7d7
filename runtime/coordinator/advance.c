/* The next agreement, and the end: see advance.h. */
#include "runtime/coordinator/advance.h"

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/behind.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/dump.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/pause.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/publish.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/sets.h"
#include "runtime/coordinator/silence.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/stops.h"
#include "runtime/coordinator/stuck.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

/* But for those that were called off and may never come, and those that have a number, and are not started: the end of
 * the program forestalls that. */
static bool all_are_attached(const struct coordinator *c, bool in_time)
{
    bool to_start = c->adaptations.pending && !adaptation_pending(c)->started;
    for (int p = 0; p < c->processes.count; p++) {
        enum process_state state = process_at(c, p)->state;
        bool comes =
            state != PROCESS_GONE && (in_time || state != PROCESS_RETURNING) && !(to_start && state == PROCESS_JOINING);
        if (!process_at(c, p)->attached && comes)
            return false;
    }
    return true;
}

static bool all_have_ended(const struct coordinator *c)
{
    int ended = 0;
    for (int r = 0; r < c->processes.size; r++)
        ended += process_of_rank(c, r)->ended;
    return ended == c->processes.size;
}

static void finish(struct coordinator *c)
{
    static const char reason[] = "the program has ended";
    if (adaptation_pending(c))
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    releases_end(c, "failed", reason);
    departures_give_up(c);
    pause_end(c, "failed", reason);
    checkpoint_end(c, "failed", reason);
    stops_end(c, reason);
    c->ending.finished = true;
    stop_finished(c);
    position_give_up(c);
    survey_give_up(c);
    measure_give_up(c);
    sets_advance(c);
    int status = c->config.ops->ended ? c->config.ops->ended(c->config.context, c->stop.sent ? c->stop.by : NULL) : 0;
    publish_event(c, "finished", NULL, NULL);
    for (int p = 0; p < c->processes.count; p++) {
        cJSON *message = json_message(ORDER(finish));
        cJSON_AddNumberToObject(message, "status", status);
        processes_send(c, p, message);
    }
}

/* A process that is not attached yet would not hear of the end, and find nobody to attach to. */
static bool may_finish(struct coordinator *c)
{
    struct ending *e = &c->ending;
    if (!all_have_ended(c))
        return false;
    if (!e->begun)
        timers_set(&c->timers, &e->limit, c->config.finish_timeout);
    e->begun = true;
    return all_are_attached(c, e->limit.set);
}

void advance_world(struct coordinator *c)
{
    if (!adaptation_take_committed(c))
        return;
    position_ask_again(c);
    agreement_check(c);
    rollcall_check(c);
    resize_deferred(c);
    measure_follow(c);
}

void advance(struct coordinator *c)
{
    dump_advance(c);
    if (stops_are_on(c))
        return; /* while the ranks are stopped nothing else is decided */
    silence_advance(c);
    stuck_advance(c);
    sets_advance(c);
    if (c->agreement.check_later)
        agreement_check(c);
    /* Ranks that are through may have ended already; the others will say that they are through. */
    if (preconnect_goes_on(c) || adaptation_is(c, ADAPTATION_WINDOW))
        return;
    releases_advance(c);
    if (all_have_ended(c) && behind_holds_end(c))
        return;
    if (may_finish(c))
        finish(c);
    else
        agreement_advance(c);
}

void advance_init(struct coordinator *c)
{
    timer_init(&c->ending.limit, NULL, c, NULL);
}
