/*
 * Bringing all ranks to one probe: freeze, target, gate. Rank 0's coordinator asks every rank's control thread to
 * lower its ceiling and to say how many probes it has passed; the highest answer plus one is the target, which no
 * rank has passed yet. There every rank says where in the program it is, and waits for the decision.
 */
#include <stdio.h>

#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

static struct process *at_rank(const struct coordinator *c, int rank)
{
    return &c->processes[c->world[rank]];
}

static void clear_arrivals(struct coordinator *c)
{
    for (int r = 0; r < c->size; r++) {
        at_rank(c, r)->arrived = false;
        at_rank(c, r)->needs = 0;
    }
}

/* Joiners that are to be connected must be alive then: they answer while the ranks run to the target. */
static void ping_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (!a || a->state != ADAPTATION_PREPARED)
        return;
    a->pinged = c->round;
    a->ping_deadline = monotonic_seconds() + c->config.freeze_timeout;
    for (int j = 0; j < a->joining; j++) {
        c->processes[a->joiners[j]].answered = joiners_come_late(c);
        send_to(c, a->joiners[j], json_message("ping"));
    }
}

static bool joiners_answered(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    for (int j = 0; j < a->joining; j++)
        if (!c->processes[a->joiners[j]].answered)
            return false;
    return true;
}

void agreement_start(struct coordinator *c)
{
    c->agreement = AGREEMENT_FREEZING;
    c->round++;
    c->freeze_deadline = monotonic_seconds() + c->config.freeze_timeout;
    for (int r = 0; r < c->size; r++)
        at_rank(c, r)->answered = false;
    ping_joiners(c);
    cJSON *message = json_message("freeze");
    cJSON_AddNumberToObject(message, "round", c->round);
    send_to_world(c, message);
}

static void release(struct coordinator *c)
{
    c->agreement = AGREEMENT_NONE;
    send_to_world(c, json_message("release"));
}

void agreement_cancel(struct coordinator *c)
{
    if (c->agreement == AGREEMENT_FREEZING || c->agreement == AGREEMENT_TARGET)
        release(c);
}

void agreement_timeout(struct coordinator *c)
{
    char reason[200];
    int silent = 0;
    while (silent < c->size - 1 && at_rank(c, silent)->answered)
        silent++;
    snprintf(reason, sizeof reason, "rank %d (pid %d on %s) did not answer within %g s", silent,
             at_rank(c, silent)->pid, at_rank(c, silent)->host, c->config.freeze_timeout);
    release(c);
    if (c->adaptation && !linking_goes_on(c))
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", reason);
    if (c->pausing) {
        c->pausing = false;
        answer(c, &c->pause_handle, refusal("timeout", reason));
    }
}

/*
 * All answered: is the reason still there? Then publish the target. Some ranks may have ended the program: then the
 * others end it before they get there, or have gone another way.
 */
static void publish_target(struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    bool wanted = c->stopping || c->pausing || (a && a->state == ADAPTATION_PREPARED);
    if (!wanted) {
        release(c);
        return;
    }
    c->target = 0;
    for (int r = 0; r < c->size; r++)
        if (at_rank(c, r)->count + 1 > c->target)
            c->target = at_rank(c, r)->count + 1;
    c->agreement = AGREEMENT_TARGET;
    cJSON *message = json_message("target");
    cJSON_AddNumberToObject(message, "count", (double)c->target);
    send_to_world(c, message);
}

void agreement_count(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = &c->processes[process];
    if (c->agreement != AGREEMENT_FREEZING || json_int(message, "round", -1) != c->round)
        return;
    p->answered = true;
    p->count = (uint64_t)json_int64(message, "count", 0);
    p->ended |= json_true(message, "ended");
    for (int r = 0; r < c->size; r++)
        if (!at_rank(c, r)->answered)
            return;
    publish_target(c);
}

/* ---- At the target ---------------------------------------------------------- */

static void describe(struct coordinator *c, int rank, char *text, size_t size)
{
    const struct process *p = at_rank(c, rank);
    if (p->ended)
        snprintf(text, size, "rank %d has ended the program", rank);
    else
        snprintf(text, size, "rank %d is at element %d '%s', visit %lld, iteration %lld", rank, p->at.pc,
                 element_name(c, p->at.pc), (long long)p->at.visit, (long long)p->at.iteration);
}

static void breach(struct coordinator *c, int rank)
{
    char zero[160], other[160], text[480];
    describe(c, 0, zero, sizeof zero);
    describe(c, rank, other, sizeof other);
    snprintf(text, sizeof text,
             "%s: the ranks went different ways: %s, but %s; loop conditions and branches must answer the same on "
             "every rank",
             c->config.program->name, zero, other);
    c->config.ops->fatal(c->config.context, text);
}

static bool same_place(const struct process *a, const struct process *b)
{
    return a->ended == b->ended && a->count == b->count && a->at.pc == b->at.pc && a->at.visit == b->at.visit &&
           a->at.iteration == b->at.iteration;
}

void agreement_check(struct coordinator *c)
{
    int arrived = 0;
    if (c->adaptation && c->adaptation->state == ADAPTATION_WINDOW)
        return; /* the world is being made: later */
    c->check_later = linking_goes_on(c);
    if (c->check_later)
        return;
    for (int r = 0; r < c->size; r++) {
        if (!at_rank(c, r)->arrived && !at_rank(c, r)->ended)
            return;
        arrived += at_rank(c, r)->arrived;
    }
    if (!arrived)
        return;
    for (int r = 1; r < c->size; r++)
        if (!same_place(at_rank(c, 0), at_rank(c, r))) {
            breach(c, r);
            return;
        }
    if (c->agreement == AGREEMENT_TARGET && at_rank(c, 0)->count == c->target) {
        c->agreement = AGREEMENT_GATE;
        agreement_decide(c);
    } else if (at_rank(c, 0)->needs) {
        adaptation_for_phase(c, at_rank(c, 0)->needs);
    }
}

void agreement_at(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = &c->processes[process];
    p->arrived = true;
    p->count = (uint64_t)json_int64(message, "count", 0);
    p->at = position_from_json(message);
    p->needs = json_int(message, "needs", 0);
    p->held = monotonic_seconds() - json_number(message, "held", 0);
    agreement_check(c);
}

void agreement_ended(struct coordinator *c, int process)
{
    c->processes[process].ended = true;
    agreement_check(c);
}

static void send_decision(struct coordinator *c, const char *action, uint64_t count)
{
    cJSON *message = json_message("decide");
    cJSON_AddStringToObject(message, "action", action);
    cJSON_AddNumberToObject(message, "count", (double)count);
    send_to_world(c, message);
    clear_arrivals(c);
    c->agreement = AGREEMENT_NONE;
}

static void hold_paused(struct coordinator *c, const struct position *at)
{
    c->paused = true;
    c->paused_since = monotonic_seconds();
    if (c->adaptation)
        c->adaptation->margin = c->adaptation->deadline - monotonic_seconds();
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", "done");
    cJSON_AddNumberToObject(reply, "pc", at->pc);
    cJSON_AddStringToObject(reply, "element", element_name(c, at->pc));
    cJSON_AddNumberToObject(reply, "iteration", (double)at->iteration);
    answer(c, &c->pause_handle, reply);
    publish(c, "paused", NULL, NULL);
}

/* Does the element at the target accept the size? If not, the adaptation is off. */
static bool element_accepts(struct coordinator *c, const struct position *at)
{
    struct adaptation *a = c->adaptation;
    if (epop_sizes_accept(epop_sizes_at(c->config.program, at->pc), a->to))
        return true;
    char reason[200];
    snprintf(reason, sizeof reason, "element %d '%s', which the program had reached by then, does not accept %d ranks",
             at->pc, element_name(c, at->pc), a->to);
    adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    return false;
}

/* A joiner that still owes its answer is waited for, up to the limit. One that became ready only at the gate, as in a
 * pause, has not been asked yet. */
static bool waits_for_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (!a || a->state != ADAPTATION_PREPARED)
        return false;
    if (a->pinged != c->round)
        ping_joiners(c);
    if (joiners_answered(c))
        return false;
    if (monotonic_seconds() < a->ping_deadline)
        return true;
    adaptation_drop(c, ADAPTATION_FAILED, "timeout", "a joining process does not answer any more");
    return false;
}

void agreement_decide(struct coordinator *c)
{
    const struct process *zero = at_rank(c, 0);
    struct position at = zero->at;
    uint64_t count = zero->count;
    int needs = zero->needs;
    if (c->stopping) {
        c->stop_sent = true;
        send_decision(c, "stop", count);
    } else if (c->pausing) {
        hold_paused(c, &at);
    } else if (waits_for_joiners(c)) {
        return;
    } else if (c->adaptation && c->adaptation->state == ADAPTATION_PREPARED && element_accepts(c, &at)) {
        adaptation_window(c, &at, count);
    } else if (needs) {
        adaptation_for_phase(c, needs);
    } else {
        send_decision(c, "continue", count);
    }
}
