/* Bringing all ranks to one probe, and the decision there. */
#include "runtime/coordinator/agreement.h"

#include <stdio.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/liveness.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stop.h"
#include "runtime/wire/messages.h"

#define AHEAD_MOST 0.02 /* seconds that the target may be put off so that the ranks need not stop before it */

/* ---- Pause --------------------------------------------------------------------------------------- */

bool pause_is_wanted(const struct coordinator *c)
{
    return c->pause.asked && !c->pause.on;
}

void pause_ask(struct coordinator *c, void *handle)
{
    c->pause.asked = true;
    c->pause.handle = handle;
}

/* All ranks hold there. */
static void pause_reached(struct coordinator *c, const struct position *at)
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

static void pause_abandoned(struct coordinator *c, const void *handle)
{
    if (c->pause.handle == handle)
        reply_send(c, &c->pause.handle, reply_refusal("failed", "the requester has gone"));
}

/* ---- Freeze, target, gate ------------------------------------------------------------------------ */

static void clear_arrivals(struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++) {
        process_of_rank(c, r)->arrived = false;
        process_of_rank(c, r)->needs = 0;
    }
}

/* Joiners that are to be connected must be alive then: they answer while the ranks run to the target. */
static void ping_joiners(struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    if (!a || a->state != ADAPTATION_PREPARED)
        return;
    c->agreement.pinged = c->agreement.round;
    c->agreement.pinged_times = c->pause.times;
    timers_set(&c->timers, &c->agreement.ping_limit, c->config.freeze_timeout);
    for (int j = 0; j < a->joining; j++) {
        process_at(c, a->joiners[j])->answered = c->ways.late;
        processes_send(c, a->joiners[j], json_message(ORDER(ping)));
    }
}

static bool joiners_answered(const struct coordinator *c)
{
    const struct adaptation *a = adaptation_pending(c);
    for (int j = 0; j < a->joining; j++)
        if (!process_at(c, a->joiners[j])->answered)
            return false;
    return true;
}

/*
 * Where all ranks will be when they know the target, if the answers and it take as long as the answers did last time:
 * they would stand still for that otherwise. 0: iterations take longer than that, or it is not known. An iteration that
 * takes longer than it did puts the target off, so it is near.
 */
static uint64_t probe_ahead(const struct coordinator *c)
{
    const struct agreement *g = &c->agreement;
    uint64_t count = 0;
    double pace = c->config.ops->pace ? c->config.ops->pace(c->config.context, &count) : 0;
    double seconds = 2 * g->took < AHEAD_MOST ? 2 * g->took : AHEAD_MOST;
    if (pace <= 0 || pace > seconds)
        return 0;
    uint64_t probes = (uint64_t)(seconds / pace);
    return count + 1 + probes + (g->lead < probes ? g->lead : probes);
}

static void agreement_begin(struct coordinator *c)
{
    c->agreement.state = AGREEMENT_FREEZING;
    c->agreement.round++;
    c->agreement.up_to = probe_ahead(c);
    c->agreement.asked = monotonic_seconds();
    timers_set(&c->timers, &c->agreement.freeze_limit, silence_limit(c));
    for (int r = 0; r < c->processes.size; r++)
        process_of_rank(c, r)->answered = false;
    ping_joiners(c);
    cJSON *message = json_message(ORDER(freeze));
    cJSON_AddNumberToObject(message, "round", c->agreement.round);
    if (c->agreement.up_to)
        cJSON_AddNumberToObject(message, "up_to", (double)c->agreement.up_to);
    processes_send_world(c, message);
}

static void agreement_over(struct coordinator *c)
{
    c->agreement.state = AGREEMENT_NONE;
    timers_cancel(&c->timers, &c->agreement.freeze_limit);
}

static void release_ranks(struct coordinator *c)
{
    agreement_over(c);
    processes_send_world(c, json_message(ORDER(release)));
}

static void freeze_timeout(void *context)
{
    struct coordinator *c = context;
    char reason[200];
    int silent = 0;
    while (silent < c->processes.size - 1 && process_of_rank(c, silent)->answered)
        silent++;
    snprintf(reason, sizeof reason, "rank %d (pid %d on %s) did not answer within %g s", silent,
             process_of_rank(c, silent)->pid, process_of_rank(c, silent)->host, silence_limit(c));
    agreement_give_up(c, reason);
}

/* Those that hold at the target go on; those that hold for a phase do not. */
void agreement_give_up(struct coordinator *c, const char *reason)
{
    if (c->stop.asked) {
        stop_cannot_be(c, reason);
        return;
    }
    for (int r = 0; r < c->processes.size; r++)
        process_of_rank(c, r)->arrived &= process_of_rank(c, r)->needs != 0;
    release_ranks(c);
    if (adaptation_pending(c) && !preconnect_goes_on(c))
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", reason);
    else
        adaptation_tell_requester(c, reason);
    checkpoint_end(c, "timeout", reason);
    if (c->pause.asked)
        pause_end(c, "timeout", reason);
}

void agreement_call_off(struct coordinator *c, const char *reason)
{
    char line[800];
    snprintf(line, sizeof line, "%s%s", reason,
             c->stop.asked ? "; so they cannot be stopped at a common one: epopctl stop --force ends the job" : "");
    c->config.ops->say(c->config.context, line, false);
    for (int r = 0; r < c->processes.size; r++)
        process_of_rank(c, r)->arrived &= process_of_rank(c, r)->needs != 0;
    release_ranks(c);
    if (c->stop.asked)
        stop_withdraw(c, line);
    if (adaptation_pending(c))
        adaptation_drop(c, ADAPTATION_FAILED, "failed", reason);
    checkpoint_end(c, "failed", reason);
    if (c->pause.asked)
        pause_end(c, "failed", reason);
}

void agreement_again(struct coordinator *c)
{
    agreement_begin(c);
}

static uint64_t highest_count(const struct coordinator *c)
{
    uint64_t highest = 0;
    for (int r = 0; r < c->processes.size; r++)
        if (process_of_rank(c, r)->count > highest)
            highest = process_of_rank(c, r)->count;
    return highest;
}

/*
 * All answered: is the reason still there? Then publish the target. Some ranks may have ended the program: then the
 * others end it before they get there, or have gone another way.
 */
static void publish_target(struct coordinator *c)
{
    if (!c->stop.asked && !c->pause.asked && !checkpoint_is_due(c) && !adaptation_is(c, ADAPTATION_PREPARED)) {
        release_ranks(c);
        return;
    }
    uint64_t highest = highest_count(c);
    c->agreement.took = monotonic_seconds() - c->agreement.asked;
    c->agreement.lead = highest - process_of_rank(c, 0)->count;
    c->agreement.target = highest + 1 > c->agreement.up_to ? highest + 1 : c->agreement.up_to;
    c->agreement.state = AGREEMENT_TARGET;
    timers_cancel(&c->timers, &c->agreement.freeze_limit);
    cJSON *message = json_message(ORDER(target));
    cJSON_AddNumberToObject(message, "count", (double)c->agreement.target);
    processes_send_world(c, message);
}

void agreement_pong(struct coordinator *c, int process)
{
    process_at(c, process)->answered = true;
}

/* From the one that was awaited last on, so that each answer costs a look at one rank and not at all. */
static bool all_are(struct coordinator *c, bool (*is)(const struct process *p))
{
    int size = c->processes.size;
    for (int i = 0; i < size; i++) {
        int rank = (c->agreement.awaited + i) % size;
        if (!is(process_of_rank(c, rank))) {
            c->agreement.awaited = rank;
            return false;
        }
    }
    return true;
}

static bool has_answered(const struct process *p)
{
    return p->answered;
}

static bool has_arrived(const struct process *p)
{
    return p->arrived || p->ended;
}

void agreement_count(struct coordinator *c, int process, const struct report_count *report)
{
    struct process *p = process_at(c, process);
    if (c->agreement.state != AGREEMENT_FREEZING || report->round != c->agreement.round)
        return;
    p->answered = true;
    p->arrived &= p->needs != 0; /* that was at a target which was given up */
    p->count = (uint64_t)report->count;
    p->ended |= report->ended;
    if (all_are(c, has_answered))
        publish_target(c);
}

/* ---- At the target ------------------------------------------------------------------------------- */

static void describe_rank(struct coordinator *c, int rank, char *text, size_t size)
{
    const struct process *p = process_of_rank(c, rank);
    if (p->ended)
        snprintf(text, size, "rank %d has ended the program", rank);
    else
        snprintf(text, size, "rank %d is at element %d '%s', visit %lld, iteration %lld", rank, p->at.pc,
                 names_element(c, p->at.pc), (long long)p->at.visit, (long long)p->at.iteration);
}

static void say_breach(struct coordinator *c, int rank)
{
    char zero[160], other[160], text[480];
    describe_rank(c, 0, zero, sizeof zero);
    describe_rank(c, rank, other, sizeof other);
    snprintf(text, sizeof text,
             "%s: the ranks went different ways: %s, but %s; loop conditions and branches must answer the same on "
             "every rank",
             c->config.program->name, zero, other);
    fatal(c, text);
}

static bool same_place(const struct process *a, const struct process *b)
{
    return a->ended == b->ended && a->count == b->count && a->at.pc == b->at.pc && a->at.visit == b->at.visit &&
           a->at.iteration == b->at.iteration;
}

static void send_decision(struct coordinator *c, const char *action, uint64_t count)
{
    cJSON *message = json_message(ORDER(decide));
    cJSON_AddStringToObject(message, "action", action);
    cJSON_AddNumberToObject(message, "count", (double)count);
    processes_send_world(c, message);
    clear_arrivals(c);
    agreement_over(c);
}

/* Does the element at the target accept the size? If not, the adaptation is off. */
static bool element_accepts(struct coordinator *c, const struct position *at)
{
    struct adaptation *a = adaptation_pending(c);
    if (epop_sizes_accept(epop_sizes_at(c->config.program, at->pc), a->to))
        return true;
    char reason[200];
    snprintf(reason, sizeof reason, "element %d '%s', which the program had reached by then, does not accept %d ranks",
             at->pc, names_element(c, at->pc), a->to);
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    return false;
}

/* A joiner that still owes its answer is waited for, up to the limit. One that became ready only at the gate, as in a
 * pause, has not been asked yet. */
static bool waits_for_joiners(struct coordinator *c)
{
    const struct agreement *g = &c->agreement;
    if (!adaptation_is(c, ADAPTATION_PREPARED))
        return false;
    if (g->pinged != g->round || g->pinged_times != c->pause.times)
        ping_joiners(c);
    if (joiners_answered(c))
        return false;
    if (g->ping_limit.set)
        return true;
    adaptation_drop(c, ADAPTATION_FAILED, "timeout", "a joining process does not answer any more");
    return false;
}

static void agreement_decide(struct coordinator *c)
{
    const struct process *zero = process_of_rank(c, 0);
    struct position at = zero->at;
    uint64_t count = zero->count;
    int needs = zero->needs;
    if (checkpoint_is_due(c)) {
        checkpoint_begin(c, &at);
    } else if (c->stop.asked && checkpoint_is_deferred(c)) {
        return; /* it was asked for before the stop: decided again when its turn has come */
    } else if (c->stop.asked) {
        stop_is_decided(c);
        send_decision(c, "stop", count);
    } else if (c->pause.asked) {
        pause_reached(c, &at);
    } else if (waits_for_joiners(c)) {
        return;
    } else if (adaptation_is(c, ADAPTATION_PREPARED) && element_accepts(c, &at)) {
        agreement_over(c);
        adaptation_window(c, &at, count);
    } else if (needs) {
        agreement_over(c);
        adaptation_for_phase(c, needs);
    } else {
        send_decision(c, "continue", count);
    }
}

/* To what the ranks themselves need; it begins again afterwards, if there is still a reason. */
static void give_way(struct coordinator *c)
{
    if (c->agreement.state == AGREEMENT_FREEZING || c->agreement.state == AGREEMENT_TARGET)
        release_ranks(c);
    agreement_over(c);
}

/* What arrived while nothing could be decided. */
static void agreement_check(struct coordinator *c)
{
    int arrived = 0;
    if (adaptation_is(c, ADAPTATION_WINDOW) || checkpoint_is_on(c))
        return; /* the world is being made, or saved: later */
    c->agreement.check_later = preconnect_goes_on(c);
    if (c->agreement.check_later)
        return;
    if (!all_are(c, has_arrived))
        return;
    for (int r = 0; r < c->processes.size; r++)
        arrived += process_of_rank(c, r)->arrived;
    if (!arrived)
        return;
    for (int r = 1; r < c->processes.size; r++)
        if (!same_place(process_of_rank(c, 0), process_of_rank(c, r))) {
            say_breach(c, r);
            return;
        }
    if (c->agreement.state == AGREEMENT_TARGET && process_of_rank(c, 0)->count == c->agreement.target) {
        c->agreement.state = AGREEMENT_GATE;
        agreement_decide(c);
    } else if (process_of_rank(c, 0)->needs) {
        give_way(c);
        adaptation_for_phase(c, process_of_rank(c, 0)->needs);
    }
}

/* At a target that was given up meanwhile. */
static bool is_late(const struct coordinator *c, const struct report_arrived *report)
{
    if (report->needs)
        return false;
    return c->agreement.state == AGREEMENT_FREEZING ||
           (c->agreement.state == AGREEMENT_TARGET && (uint64_t)report->count < c->agreement.target);
}

void agreement_arrived(struct coordinator *c, int process, const struct report_arrived *report)
{
    struct process *p = process_at(c, process);
    if (is_late(c, report))
        return;
    p->arrived = true;
    p->count = (uint64_t)report->count;
    p->at = POSITION_OF(report);
    p->needs = report->needs;
    p->held = monotonic_seconds() - report->held;
    speeds_take(&c->speeds, report->tally);
    agreement_check(c);
}

void agreement_ended(struct coordinator *c, int process)
{
    process_at(c, process)->ended = true;
    ahead_rank_ended(c);
    settle_look(c);
    agreement_check(c);
}

/* Is there a reason to bring all ranks together? */
static bool agreement_is_wanted(const struct coordinator *c)
{
    if (adaptation_is(c, ADAPTATION_WINDOW) || adaptation_is_for_phase(c))
        return false;
    if (c->stop.asked)
        return stop_is_wanted(c);
    if (checkpoint_is_due(c))
        return true;
    return c->pause.asked ? pause_is_wanted(c) : adaptation_is_due(c);
}

bool agreement_waits(const struct coordinator *c)
{
    return settle_is_open(c) && agreement_is_wanted(c);
}

void agreement_advance(struct coordinator *c)
{
    if (c->agreement.state == AGREEMENT_NONE && agreement_is_wanted(c) && !settle_is_open(c) &&
        processes_all_attached(c))
        agreement_begin(c);
    else if (c->agreement.state == AGREEMENT_GATE && !checkpoint_is_on(c) && (!c->pause.on || checkpoint_is_due(c)))
        agreement_decide(c);
}

static void agreement_init(struct coordinator *c)
{
    timer_init(&c->agreement.freeze_limit, freeze_timeout, c, &c->limits);
    timer_init(&c->agreement.ping_limit, NULL, c, &c->limits);
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

/* What has arrived while processes were being connected is looked at when they are. In a window nothing is decided:
 * ranks that are through may have ended already, and the others will say that they are through. */
static bool agreement_goes_on(struct coordinator *c)
{
    if (c->agreement.check_later)
        agreement_check(c);
    return !preconnect_goes_on(c) && !adaptation_is(c, ADAPTATION_WINDOW);
}

static void agreement_end(struct coordinator *c, const char *reason)
{
    pause_end(c, "failed", reason);
}

const struct part agreement_part = {.init = agreement_init,
                                    .advance = agreement_goes_on,
                                    .new_world = agreement_check,
                                    .abandoned = pause_abandoned,
                                    .end = agreement_end};
