/* The life of one adaptation. */
#include "runtime/coordinator/adaptation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define CONNECT_LOOK 0.5 /* seconds between two looks at a connect that takes long */

/* The steps of preparing; each goes on with the next one. */
static void everybody_ready(struct coordinator *c);
static void ahead_start(struct coordinator *c, struct adaptation *a);
static void connect_joiners(struct coordinator *c);
static bool preconnect_start(struct coordinator *c);
static void adaptation_prepared(struct coordinator *c);
/* What they need of the window, and what it needs of them. */
static struct plan *adaptation_plan(struct coordinator *c);
static bool ahead_take(struct coordinator *c, const struct position *at);
static void ahead_forget(struct coordinator *c);
static void preconnect_connected(struct coordinator *c, const char *failure);
static void preconnect_off(struct coordinator *c, const struct adaptation *a);

static void adaptation_free(struct adaptation *a)
{
    free(a->leaves);
    free(a->loads);
    free(a->joiners);
    free(a->port);
    free(a->hosts);
    cJSON_Delete(a->meeting);
    free(a);
}

bool adaptation_may_begin(const struct coordinator *c, struct error *why)
{
    const struct adaptation *a = c->adaptations.pending;
    if (c->stop.asked || c->ending.finished)
        error_set(why, ERROR_FAILED, "the job is ending");
    else if (a && a->balance)
        error_set(why, ERROR_FAILED, "adaptation %d, a balance, is pending; try again when it is through, or cancel it",
                  a->id);
    else if (a)
        error_set(why, ERROR_FAILED, "adaptation %d (%d -> %d) is pending; try again when it is through, or cancel it",
                  a->id, a->from, a->to);
    else
        return true;
    return false;
}

struct adaptation *adaptation_new(struct coordinator *c, enum requester by, int to, int requested)
{
    struct adaptation *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->leaves = calloc((size_t)c->processes.size, 1);
    a->joiners = calloc((size_t)to, sizeof *a->joiners);
    if (!a->leaves || !a->joiners) {
        adaptation_free(a);
        return NULL;
    }
    a->id = c->adaptations.count + 1;
    a->from = c->processes.size;
    a->to = to;
    a->requested_size = requested;
    a->by = by;
    a->at.pc = -1;
    a->requested = wall_seconds();
    return a;
}

/* It is over, one way or the other: into the history. */
static void adaptation_retire(struct coordinator *c, struct adaptation *a)
{
    timers_cancel(&c->timers, &c->adaptations.prepare_limit);
    timers_cancel(&c->timers, &c->adaptations.connect_limit);
    ahead_forget(c);
    c->adaptations.history[a->id % ADAPTATION_HISTORY] = *a;
    c->adaptations.pending = NULL;
    adaptation_free(a);
}

struct adaptation *adaptation_pending(const struct coordinator *c)
{
    return c->adaptations.pending;
}

static struct adaptation *adaptation_of(const struct coordinator *c, int id)
{
    struct adaptation *a = c->adaptations.pending;
    return a && a->id == id ? a : NULL;
}

bool adaptation_is(const struct coordinator *c, enum adaptation_state state)
{
    return c->adaptations.pending && c->adaptations.pending->state == state;
}

static bool is_for_phase(const struct adaptation *a)
{
    return a->by == BY_PHASE;
}

bool adaptation_is_for_phase(const struct coordinator *c)
{
    return c->adaptations.pending && is_for_phase(c->adaptations.pending);
}

bool adaptation_is_due(const struct coordinator *c)
{
    return adaptation_is(c, ADAPTATION_PREPARED) && !changes_wait(c) &&
           (!c->adaptations.interval.set || adaptation_pending(c)->urgent);
}

bool adaptation_take_committed(struct coordinator *c)
{
    bool committed = c->adaptations.committed;
    c->adaptations.committed = false;
    return committed;
}

cJSON *adaptation_reply(const struct adaptation *a, const char *code)
{
    cJSON *reply = reply_accepted(code);
    cJSON_AddNumberToObject(reply, "adaptation", a->id);
    cJSON_AddNumberToObject(reply, "size", a->to);
    cJSON_AddNumberToObject(reply, "requested", a->requested_size);
    cJSON_AddNumberToObject(reply, "from", a->from);
    if (a->to != a->requested_size) {
        char note[96];
        snprintf(note, sizeof note, "rounded down from %d to %d, the next size that the program accepts",
                 a->requested_size, a->to);
        cJSON_AddStringToObject(reply, "note", note);
    }
    names_add_balance(reply, a);
    return reply;
}

void adaptation_answer(struct coordinator *c, void *handle, bool wait, bool vacated)
{
    if (!wait || !c->adaptations.pending)
        reply_send(c, &handle, adaptation_reply(c->adaptations.pending, "accepted"));
    else if (waiters_add(&c->adaptations.pending->waiters, handle, vacated))
        fatal_memory(c);
}

void adaptation_refuse(struct coordinator *c, void *handle, const char *why)
{
    publish_event(c, "refused", NULL, why);
    reply_send(c, &handle, reply_refusal("refused", why));
}

/* ---- Preparing: the joining processes start ------------------------------------------------------ */

void adaptation_start_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptations.pending;
    if (!a || a->state != ADAPTATION_PREPARING || a->started || !c->config.backend->start(c, a))
        return;
    a->started = true;
    for (int j = 0; j < a->joining; j++) {
        struct process *p = process_at(c, a->joiners[j]);
        process_become(p, PROCESS_JOINING);
        p->met = p->ready = false;
    }
}

int adaptation_prepare(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error)
{
    if (c->ways.replaces) {
        memset(a->leaves, 1, (size_t)c->processes.size);
        a->joining = a->to;
    }
    if (a->joining && c->config.backend->choose(c, a, hosts, error)) {
        adaptation_free(a);
        return -1;
    }
    a->hosts = hosts ? strdup(hosts) : NULL;
    c->adaptations.pending = a;
    c->adaptations.count++;
    timers_set(&c->timers, &c->adaptations.prepare_limit, c->config.prepare_timeout);
    publish_event(c, "requested", a, NULL);
    if (!a->balance)
        changes_announce(c, a);
    if (a->joining && !c->ways.late)
        adaptation_start_joiners(c);
    else
        everybody_ready(c);
    return 0;
}

/* One that waited in MPI for others to start would spin, or could not be called off. */
void adaptation_meet(struct coordinator *c, int process, const struct report_meet *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    if (!a || a->state != ADAPTATION_PREPARING)
        return;
    process_at(c, process)->met = true;
    if (report->ports.items) {
        cJSON_Delete(a->meeting);
        a->meeting = json_message(ORDER(meet));
        cJSON_AddItemToObject(a->meeting, "ports", cJSON_CreateStringArray(report->ports.items, report->ports.count));
    }
    for (int j = 0; j < a->joining; j++)
        if (!process_at(c, a->joiners[j])->met)
            return;
    if (!a->meeting)
        return;
    processes_send_all(c, a->joiners, a->joining, a->meeting);
}

void adaptation_ready(struct coordinator *c, int process, const struct report_ready *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    const char *failure = report->failure;
    if (!failure && c->processes.identity[0] && !process_at(c, process)->identified)
        failure = "it did not say which program it has";
    if (!a || a->state != ADAPTATION_PREPARING)
        return;
    if (failure) {
        char reason[200];
        snprintf(reason, sizeof reason, "a joining process (pid %d on %s) could not start: %s",
                 process_at(c, process)->pid, process_at(c, process)->host, failure);
        adaptation_fail(c, reason);
        return;
    }
    if (report->port && !a->port)
        a->port = strdup(report->port);
    process_at(c, process)->ready = true;
    for (int j = 0; j < a->joining; j++)
        if (!process_at(c, a->joiners[j])->ready)
            return;
    everybody_ready(c);
}

void adaptation_unstarted(struct coordinator *c, int process, const struct report_unstarted *report)
{
    (void)process;
    struct adaptation *a = adaptation_of(c, report->adaptation);
    if (!a || a->state != ADAPTATION_PREPARING)
        return;
    for (int j = 0; j < a->joining; j++)
        processes_gone(c, a->joiners[j]);
    adaptation_fail(c, report->failure);
}

static void prepare_timeout(void *context)
{
    struct coordinator *c = context;
    adaptation_drop(c, ADAPTATION_FAILED, "timeout",
                    c->adaptations.pending->balance ? "the ranks did not end enough iterations in time to be compared"
                                                    : "the joining processes were not ready in time");
}

/* ---- Preparing: all are ready -------------------------------------------------------------------- */

static void everybody_ready(struct coordinator *c)
{
    struct adaptation *a = c->adaptations.pending;
    if (a->balance && !a->loads)
        return; /* until adaptation_measured */
    timers_cancel(&c->timers, &c->adaptations.prepare_limit);
    a->held = changes_hold(c);
    if (a->held)
        return;
    bool later = c->ways.late && a->joining; /* they are not there yet */
    bool without = !c->config.ahead || is_for_phase(a) || a->balance || later || c->ways.replaces;
    /* A rank that is still attaching, at the job's start, would not hear that it is to list. */
    if (without || !processes_all_attached(c))
        connect_joiners(c);
    else
        ahead_start(c, a);
}

bool adaptation_is_ready(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptations.pending;
    return a && (a->held || a->state == ADAPTATION_PREPARED);
}

void adaptation_measured(struct coordinator *c)
{
    everybody_ready(c);
}

void adaptation_accepted(struct coordinator *c)
{
    struct adaptation *a = c->adaptations.pending;
    if (a && a->held)
        everybody_ready(c);
}

int adaptation_leave(struct coordinator *c, const struct ints *ranks, struct error *why)
{
    struct adaptation *a = c->adaptations.pending;
    if (!a->held || c->changes.now.taken)
        return error_set(why, ERROR_FAILED, "adaptation %d is of other processes that leave", a->id);
    for (int i = 0; i < ranks->count; i++)
        a->leaves[ranks->items[i]] = 1;
    a->to -= ranks->count;
    changes_take_too(c, a);
    return 0;
}

bool adaptation_is_of(const struct coordinator *c, const struct ints *ranks)
{
    const struct adaptation *a = c->adaptations.pending;
    int leaving = 0, among = 0;
    for (int r = 0; r < c->processes.size; r++)
        leaving += a->leaves[r];
    for (int i = 0; i < ranks->count; i++)
        among += a->leaves[ranks->items[i]];
    return leaving == among && among == ranks->count;
}

/* ---- Preparing: constant data moves ahead of the window ------------------------------------------ */

/* Nothing of it is MPI's, so that a process that dies here is missed like one that dies before it. */

/* The joiners first: they have nothing else to do. */
static void ahead_tell(struct coordinator *c, cJSON *message)
{
    const struct adaptation *a = c->ahead.adaptation;
    cJSON_AddNumberToObject(message, "adaptation", a->id);
    processes_send_all(c, a->joiners, a->joining, message);
    processes_send_all(c, c->processes.world, c->processes.size, message);
    cJSON_Delete(message);
}

static void ahead_forget(struct coordinator *c)
{
    timers_cancel(&c->timers, &c->ahead.limit);
    cJSON_Delete(c->ahead.places);
    c->ahead = (struct ahead){.state = AHEAD_NONE};
}

/* Its place in the plan; -1: it is not in it. */
static int index_of(const struct coordinator *c, int process)
{
    const struct adaptation *a = c->ahead.adaptation;
    for (int j = 0; j < a->joining; j++)
        if (a->joiners[j] == process)
            return c->processes.size + j;
    return process_at((struct coordinator *)c, process)->rank;
}

/* The ranks come to their window, and wait there for the rest. */
static void be_late(void *context)
{
    struct coordinator *c = context;
    c->ahead.late = true;
    connect_joiners(c);
}

/* Everybody is ready, and data may go ahead. */
static void ahead_start(struct coordinator *c, struct adaptation *a)
{
    ahead_forget(c);
    c->ahead = (struct ahead){
        .state = AHEAD_LISTS, .adaptation = a, .waits = c->processes.size + a->joining, .places = cJSON_CreateArray()};
    timer_init(&c->ahead.limit, be_late, c, &c->preparing);
    for (int i = 0; i < c->ahead.waits; i++)
        cJSON_AddItemToArray(c->ahead.places, cJSON_CreateNull());
    cJSON *message = json_message(ORDER(list));
    cJSON_AddNumberToObject(message, "size", a->to);
    ahead_tell(c, message);
}

/* Then all is moved in the window. */
static void do_without(struct coordinator *c)
{
    bool waits = (c->ahead.state == AHEAD_LISTS || c->ahead.state == AHEAD_MOVES) && !c->ahead.late;
    ahead_off(c);
    if (waits)
        connect_joiners(c);
}

static void ahead_move(struct coordinator *c)
{
    struct ahead *s = &c->ahead;
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    cJSON *message = json_message(ORDER(ahead));
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    cJSON_AddItemToObject(message, "places", s->places);
    s->places = NULL;
    s->state = AHEAD_MOVES;
    s->adaptation->ahead = wall_seconds();
    s->waits = plan_total(plan);
    plan_free(plan);
    ahead_tell(c, message);
    timers_set(&c->timers, &s->limit, c->config.ahead_limit);
}

static void ahead_compare(struct ahead *s, const struct report_listed *report)
{
    struct position at = POSITION_OF(report);
    const char *hash = report->hash;
    if (s->hash[0] && (at.pc != s->at.pc || at.visit != s->at.visit || strcmp(hash ? hash : "", s->hash)))
        s->differ = true;
    s->at = at;
    snprintf(s->hash, sizeof s->hash, "%s", hash ? hash : "?");
    s->something |= report->constants > 0;
}

void ahead_listed(struct coordinator *c, int process, const struct report_listed *report)
{
    struct ahead *s = &c->ahead;
    if (s->state != AHEAD_LISTS || report->adaptation != s->adaptation->id)
        return;
    int index = index_of(c, process);
    if (index < 0 || !cJSON_IsNull(cJSON_GetArrayItem(s->places, index)))
        return;
    if (!report->place) {
        do_without(c);
        return;
    }
    cJSON_ReplaceItemInArray(s->places, index, cJSON_Duplicate(report->place->said, 1));
    if (index < c->processes.size)
        ahead_compare(s, report);
    if (--s->waits)
        return;
    if (!s->something || s->differ)
        do_without(c);
    else
        ahead_move(c);
}

/* It will be so in the next resize, too. */
static void do_without_from_now_on(struct coordinator *c, const char *reason)
{
    char text[ERROR_TEXT_MAX];
    if (!c->config.ahead)
        return;
    c->config.ahead = false;
    snprintf(text, sizeof text, "constant data cannot go ahead and moves in the windows from now on: %.4000s", reason);
    c->config.ops->say(c->config.context, text, false);
}

void ahead_came(struct coordinator *c, int process, const struct report_ahead *report)
{
    struct ahead *s = &c->ahead;
    (void)process;
    if (s->state == AHEAD_NONE || report->adaptation != s->adaptation->id)
        return;
    if (report->failure) {
        if (report->unreachable)
            do_without_from_now_on(c, report->failure);
        do_without(c);
        return;
    }
    s->adaptation->ahead_bytes += report->bytes;
    if (s->state != AHEAD_MOVES || --s->waits)
        return;
    timers_cancel(&c->timers, &s->limit);
    s->state = AHEAD_DONE;
    if (!s->late)
        connect_joiners(c);
}

void ahead_rank_ended(struct coordinator *c)
{
    if (c->ahead.state == AHEAD_LISTS || c->ahead.state == AHEAD_MOVES)
        do_without(c);
}

/* The window opens at that place: does what came, or still comes, count there? */
static bool ahead_take(struct coordinator *c, const struct position *at)
{
    struct ahead *s = &c->ahead;
    bool same = at->pc == s->at.pc && at->visit == s->at.visit;
    bool counts = (s->state == AHEAD_DONE || (s->state == AHEAD_MOVES && s->late)) && same;
    if (s->state != AHEAD_NONE && !counts)
        s->adaptation->ahead_bytes = 0;
    if (counts)
        s->state = AHEAD_IN_WINDOW;
    else
        ahead_forget(c);
    return counts;
}

void ahead_off(struct coordinator *c)
{
    if (c->ahead.state == AHEAD_NONE)
        return;
    c->ahead.adaptation->ahead_bytes = 0;
    ahead_tell(c, json_message(ORDER(ahead_off)));
    ahead_forget(c);
}

/* ---- Preparing: what those that join describe ---------------------------------------------------- */

void adaptation_describes(struct coordinator *c, int process, const struct report_describes *report)
{
    (void)process;
    c->balance.divides |= report->divides;
    cJSON_Delete(c->adaptations.data);
    c->adaptations.data = cJSON_Duplicate(report->said, 1);
}

cJSON *adaptation_described(const struct coordinator *c)
{
    const cJSON *said = c->adaptations.data;
    cJSON *answer = inquiry_yes();
    if (!cJSON_HasObjectItem(said, "list"))
        return answer;
    cJSON_AddItemToObject(answer, "list", cJSON_Duplicate(cJSON_GetObjectItem(said, "list"), 1));
    cJSON_AddItemToObject(answer, "values", cJSON_Duplicate(cJSON_GetObjectItem(said, "values"), 1));
    return answer;
}

/* ---- Preparing: connecting ahead of the window --------------------------------------------------- */

/*
 * First the two sides connect: a joiner that dies meanwhile is no harm, who waits for it is given up. When all have
 * done so they make the communicators, which cannot do without any of them: a joiner that dies then ends the job.
 * After that nothing moves between the processes until the window, so that it is no harm again.
 */

static void connect_joiners(struct coordinator *c)
{
    if (!preconnect_start(c))
        adaptation_prepared(c);
}

/* The joiners first: where they wait they sleep, and the first rank, which is the last one, does not. */
static void preconnect_tell(struct coordinator *c, cJSON *message)
{
    const struct adaptation *a = adaptation_pending(c);
    for (int j = a->joining - 1; j >= 0; j--)
        processes_send_copy(c, a->joiners[j], message);
    for (int r = c->processes.size - 1; r >= 0; r--)
        processes_send_copy(c, c->processes.world[r], message);
    cJSON_Delete(message);
}

static void preconnect_order(struct coordinator *c)
{
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    cJSON *message = json_message(ORDER(connect));
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    plan_free(plan);
    preconnect_tell(c, message);
}

static void make_communicators(struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    a->preconnect = PRECONNECT_MERGES;
    a->unconnected = c->processes.size + a->joining;
    if (a->joining)
        timers_set(&c->timers, &c->preconnect.limit, c->config.prepare_timeout);
}

/* Everybody is ready: connects ahead of the window if that can be; false if not. */
static bool preconnect_start(struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    if (!c->ways.ahead || c->preconnect.off || a->by == BY_PHASE)
        return false;
    timers_cancel(&c->timers, &c->adaptations.prepare_limit); /* the joiners are ready */
    if (a->joining) {
        a->unconnected = c->processes.size + a->joining;
        a->preconnect = PRECONNECT_CONNECTS;
        timers_set(&c->timers, &c->preconnect.limit, c->config.connect_timeout);
    } else {
        make_communicators(c);
    }
    preconnect_order(c);
    return true;
}

void preconnect_linked(struct coordinator *c, int process, const struct report_linked *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    (void)process;
    if (!a || a->preconnect != PRECONNECT_CONNECTS || --a->unconnected)
        return;
    make_communicators(c);
    preconnect_tell(c, json_message(ORDER(merge)));
}

static void preconnect_connected(struct coordinator *c, const char *failure)
{
    struct adaptation *a = adaptation_pending(c);
    if (failure) {
        adaptation_fail(c, failure);
    } else if (--a->unconnected == 0) {
        timers_cancel(&c->timers, &c->preconnect.limit);
        a->preconnect = PRECONNECT_DONE;
        adaptation_prepared(c);
    }
}

/* The limit of connecting has come. Where all answer they are only slow: it is put off, until it was so many seconds,
 * and this true. */
static bool adaptation_connects_on(struct coordinator *c, struct timer *limit, double most)
{
    struct adaptation *a = c->adaptations.pending;
    if (processes_are_silent(c, false) || c->config.connect_timeout + a->looks * CONNECT_LOOK >= most)
        return false;
    a->looks++;
    timers_set(&c->timers, limit, CONNECT_LOOK);
    return true;
}

static void preconnect_timeout(void *context)
{
    struct coordinator *c = context;
    bool merges = adaptation_pending(c)->preconnect == PRECONNECT_MERGES;
    if (!merges && adaptation_connects_on(c, &c->preconnect.limit, BACKEND_CONNECT_LONGEST))
        return;
    if (merges)
        fatal_fault(c, -1, "the ranks did not come together for an adaptation in time");
    else
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", "MPI could not connect the joining processes in time");
}

/* The adaptation is off. */
static void preconnect_off(struct coordinator *c, const struct adaptation *a)
{
    bool lost = a->preconnect != PRECONNECT_DONE;
    if (a->preconnect == PRECONNECT_NONE)
        return;
    timers_cancel(&c->timers, &c->preconnect.limit);
    if (lost && a->joining)
        c->config.backend->kill(c, a); /* what MPI in them waits for will not come */
    cJSON *message = json_message(ORDER(disconnect));
    cJSON_AddBoolToObject(message, "lost", lost);
    preconnect_tell(c, message);
    c->preconnect.off |= lost;
}

static void preconnect_new_world(struct coordinator *c)
{
    c->preconnect.off = false;
}

bool preconnect_goes_on(const struct coordinator *c)
{
    const struct adaptation *a = adaptation_pending(c);
    return a && (a->preconnect == PRECONNECT_CONNECTS || a->preconnect == PRECONNECT_MERGES);
}

/* ---- Prepared, and decided: the window ----------------------------------------------------------- */

static void adaptation_prepared(struct coordinator *c)
{
    struct adaptation *a = c->adaptations.pending;
    const struct process *zero = process_of_rank(c, 0);
    timers_cancel(&c->timers, &c->adaptations.prepare_limit);
    a->state = ADAPTATION_PREPARED;
    a->prepared = wall_seconds();
    publish_event(c, "prepared", a, NULL);
    if (is_for_phase(a)) { /* all ranks hold already */
        struct position at = zero->at;
        adaptation_window(c, &at, zero->count);
    }
}

/* Where processes are started in the window, their start counts too. */
static double connect_limit(const struct coordinator *c)
{
    return c->config.connect_timeout + (c->ways.late ? c->config.prepare_timeout : 0);
}

/* With the point of the program still open. NULL: out of memory, which ends the job. */
static struct plan *adaptation_plan(struct coordinator *c)
{
    const struct adaptation *a = c->adaptations.pending;
    struct plan *plan = plan_make(a->id, c->processes.world, a->leaves, c->processes.size, a->joiners, a->joining);
    if (plan) {
        plan->port = a->port ? strdup(a->port) : NULL;
        plan->connected = a->preconnect == PRECONNECT_DONE;
        if (!a->loads || plan_take_loads(plan, a->loads))
            return plan;
    }
    plan_free(plan);
    fatal_memory(c);
    return NULL;
}

void adaptation_window(struct coordinator *c, const struct position *at, uint64_t count)
{
    struct adaptation *a = c->adaptations.pending;
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    plan->at = *at;
    plan->count = count;
    plan->ahead = ahead_take(c, at);
    a->at = *at;
    snprintf(a->element, sizeof a->element, "%s", names_element(c, at->pc));
    a->state = ADAPTATION_WINDOW;
    a->outstanding = plan_total(plan);
    a->unconnected = c->config.backend->connects != CONNECTS_ALWAYS && !plan->connected
                         ? plan_total(plan)
                         : 0; /* others cannot fail there */
    a->connected = plan->connected ? c->processes.size : 0;
    if (a->unconnected && a->joining) /* else they wait for each other alone: liveness.h */
        timers_set(&c->timers, &c->adaptations.connect_limit, connect_limit(c));
    a->agreed = wall_seconds();
    cJSON *message = json_message(ORDER(decide));
    cJSON_AddStringToObject(message, "action", "adapt");
    cJSON_AddNumberToObject(message, "count", (double)count);
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    int told = c->ways.late ? c->processes.size : plan_total(plan); /* late ones are told by the ranks */
    processes_send_all(c, plan->processes, told, message);
    for (int i = 0; i < plan_total(plan); i++) {
        struct process *p = process_at(c, plan->processes[i]);
        process_forget_answers(p);
        p->through = false;
        if (plan->new_ranks[i] < 0)
            process_become(p, PROCESS_LEAVING);
    }
    cJSON_Delete(message);
    plan_free(plan);
    publish_event(c, "agreed", a, NULL);
}

/* ---- In the window: connecting, the last step that can be taken back ----------------------------- */

/* All old ranks are back at their old size, at the probe of the target. */
static void undo_window(struct coordinator *c, struct adaptation *a, const char *reason)
{
    for (int r = 0; r < c->processes.size; r++)
        process_become(process_of_rank(c, r), PROCESS_RUNNING);
    a->state = ADAPTATION_PREPARED;
    adaptation_fail(c, reason);
}

/* A joiner whose connect failed ends; what counts is whether all the old ranks failed, or none. */
void adaptation_connected(struct coordinator *c, int process, const struct report_connected *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    if (!a)
        return;
    if (preconnect_goes_on(c)) {
        preconnect_connected(c, report->failure);
        return;
    }
    if (a->state != ADAPTATION_WINDOW)
        return;
    const char *failure = report->failure;
    bool old = process_at(c, process)->rank >= 0;
    if (old && failure)
        a->failures++;
    else if (old)
        a->connected++;
    a->unconnected -= old || !failure;
    if (!a->unconnected)
        timers_cancel(&c->timers, &c->adaptations.connect_limit);
    if (a->failures == c->processes.size)
        undo_window(c, a, failure);
    else if (a->connected && a->failures)
        fatal_fault(c, -1, "some ranks could connect to the joining processes and others not");
    else if (a->connected && a->kills)
        fatal_fault(c, -1, "a joining process ended when the ranks were connected to it already");
}

/*
 * They may have ended by themselves. MPI's connect notices it at once, or when its own time limit is over. The ranks
 * stand still meanwhile: that limit is waited for once, and not for each joiner that is missed.
 */
void adaptation_end_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptations.pending;
    struct timer *limit = &c->adaptations.connect_limit;
    double took = c->config.connect_timeout + a->looks * CONNECT_LOOK - timers_left(&c->timers, limit);
    if (a->kills++ == 0)
        timers_set(&c->timers, limit, BACKEND_CONNECT_AT_GATE + BACKEND_CONNECT_MORE - took);
    c->config.backend->kill(c, a);
}

/* Until a rank that is stopped goes on nothing can be said of the others. */
static bool waits_for_ranks(struct coordinator *c, struct timer *limit)
{
    if (processes_are_silent(c, true))
        timers_set(&c->timers, limit, CONNECT_LOOK);
    return limit->set;
}

static void connect_timeout(void *context)
{
    struct coordinator *c = context;
    struct adaptation *a = c->adaptations.pending;
    struct timer *limit = &c->adaptations.connect_limit;
    bool in_time = c->config.backend->connects == CONNECTS_IN_TIME && !a->connected;
    bool may_kill = in_time && !a->kills;
    if (may_kill ? adaptation_connects_on(c, limit, BACKEND_CONNECT_AT_GATE) : waits_for_ranks(c, limit))
        return;
    if (!in_time)
        fatal_fault(c, -1, "the ranks did not come together for an adaptation in time");
    else if (a->kills)
        fatal_fault(c, -1, "the ranks are stuck in connecting to processes that were ended");
    else
        adaptation_end_joiners(c);
}

/* ---- In the window: through, and the last one commits -------------------------------------------- */

static int *list_leavers(const struct coordinator *c, const struct adaptation *a, int *count)
{
    int *list = malloc(sizeof *list * (size_t)c->processes.size);
    *count = 0;
    for (int r = 0; list && r < c->processes.size; r++)
        if (a->leaves[r])
            list[(*count)++] = c->processes.world[r];
    return list;
}

static void add_place(cJSON *list, int rank, const char *host)
{
    cJSON *place = cJSON_CreateObject();
    cJSON_AddNumberToObject(place, "rank", rank);
    cJSON_AddStringToObject(place, "host", host);
    cJSON_AddItemToArray(list, place);
}

/* By their old ranks. */
static cJSON *left_json(const struct coordinator *c, const struct adaptation *a)
{
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < c->processes.size; r++)
        if (a->leaves[r])
            add_place(list, r, process_of_rank(c, r)->host);
    return list;
}

static cJSON *joined_json(const struct coordinator *c, const struct adaptation *a)
{
    cJSON *list = cJSON_CreateArray();
    for (int j = 0; j < a->joining; j++)
        add_place(list, process_at(c, a->joiners[j])->rank, process_at(c, a->joiners[j])->host);
    return list;
}

/* Those who wait for the leavers' end a little later. Takes the list and the reply. */
static void tell_of_commit(struct coordinator *c, struct adaptation *a, int *left, int leaving, cJSON *reply)
{
    struct waiter *for_end = waiters_for_end(&a->waiters);
    waiters_answer(c, &a->waiters, cJSON_Duplicate(reply, 1));
    departures_begin(c, left, leaving, for_end, reply);
}

/* That process is through the window, or parked; the last one completes the adaptation. */
static void one_through(struct coordinator *c, int process)
{
    struct adaptation *a = c->adaptations.pending;
    struct process *p = process_at(c, process);
    int leaving;
    if (!adaptation_is(c, ADAPTATION_WINDOW) || p->through)
        return;
    p->through = true;
    changes_through(c, a);
    if (--a->outstanding)
        return;
    int *left = list_leavers(c, a, &leaving);
    cJSON *reply = adaptation_reply(a, "done"), *of_leavers = left_json(c, a);
    process_make_world(c, a->id, a->leaves, a->joiners, a->joining);
    cJSON_AddItemToObject(reply, "joined", joined_json(c, a));
    cJSON_AddItemToObject(reply, "left", of_leavers);
    settle_begin(c, a->joining);
    preconnect_new_world(c);
    a->state = ADAPTATION_COMMITTED;
    a->committed = wall_seconds();
    c->adaptations.committed = true;
    timers_set(&c->timers, &c->adaptations.interval, c->config.min_interval);
    publish_event(c, "committed", a, NULL);
    tell_of_commit(c, a, left, leaving, reply);
    adaptation_retire(c, a);
}

/* From the hold of the first old rank until now, where the first new rank goes on; after that it is known. */
static double standstill(const struct coordinator *c, const struct adaptation *a)
{
    double now = monotonic_seconds(), first = now;
    for (int r = 0; r < c->processes.size && !a->stall; r++)
        if (process_of_rank(c, r)->held < first)
            first = process_of_rank(c, r)->held;
    return now - first;
}

void adaptation_through(struct coordinator *c, int process, const struct report_committed *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    if (!a || a->state != ADAPTATION_WINDOW)
        return;
    double stall = c->ways.replaces ? standstill(c, a) : report->stall;
    if (stall > a->stall)
        a->stall = stall;
    a->bytes += report->bytes;
    one_through(c, process);
}

/* Their data has arrived where the others are through. They say so themselves if they come after all. */
bool adaptation_awaits_leavers(const struct coordinator *c)
{
    int leaving = 0;
    for (int p = 0; p < c->processes.count; p++)
        leaving += process_at(c, p)->state == PROCESS_LEAVING && !process_at(c, p)->through;
    return leaving >= c->adaptations.pending->outstanding && !c->ways.replaces;
}

bool adaptation_without_leavers(struct coordinator *c)
{
    if (!adaptation_awaits_leavers(c))
        return false;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->state == PROCESS_LEAVING)
            one_through(c, p);
    return true;
}

void adaptation_gone(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    bool leaving = p->state == PROCESS_LEAVING;
    process_end(p);
    if (leaving)
        one_through(c, process);
}

void adaptation_hosts(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    bool leaving = p->state == PROCESS_LEAVING;
    process_become(p, PROCESS_HOSTING);
    if (leaving)
        one_through(c, process);
}

void adaptation_parked(struct coordinator *c, int process, const struct report_parked *report)
{
    struct process *p = process_at(c, process);
    bool awaited = p->state == PROCESS_LEAVING && !p->through;
    process_become(p, report->reusable ? PROCESS_STANDBY : PROCESS_SPENT);
    process_forget_answers(p);
    departures_parked(c, process);
    if (awaited)
        one_through(c, process);
    else
        adaptation_start_joiners(c);
}

/* ---- Off ----------------------------------------------------------------------------------------- */

static void phase_cannot_run(struct coordinator *c, const struct adaptation *a, const char *reason)
{
    char text[400];
    int pc = process_of_rank(c, 0)->at.pc;
    snprintf(text, sizeof text, "%s: element %d '%s' does not accept %d ranks, and there is no way to %d: %s",
             c->config.program->name, pc, names_element(c, pc), a->from, a->to, reason);
    fatal(c, text);
}

/* Those that were started for it; parked ones go back to where they were. */
static int *list_started(const struct coordinator *c, const struct adaptation *a, int *count)
{
    int first = backend_ends(c->config.backend) ? a->parked : 0;
    *count = a->started ? a->joining - first : 0;
    int *list = *count ? malloc(sizeof *list * (size_t)*count) : NULL;
    if (list)
        memcpy(list, a->joiners + first, sizeof *list * (size_t)*count);
    return list;
}

/* Who waits until hosts are vacated wants the joiners to have ended. */
static void tell_of_drop(struct coordinator *c, struct adaptation *a, const char *code)
{
    int count;
    cJSON *refusal = reply_refusal(code, a->reason);
    cJSON_AddTrueToObject(refusal, "off");
    struct waiter *for_end = waiters_for_end(&a->waiters);
    waiters_answer(c, &a->waiters, cJSON_Duplicate(refusal, 1));
    int *started = for_end ? list_started(c, a, &count) : NULL;
    departures_begin(c, started, started ? count : 0, for_end, refusal);
}

void adaptation_drop(struct coordinator *c, enum adaptation_state state, const char *code, const char *reason)
{
    struct adaptation *a = c->adaptations.pending;
    if (a->state != ADAPTATION_PREPARING && a->state != ADAPTATION_PREPARED)
        return;
    ahead_off(c);
    preconnect_off(c, a);
    if (a->started)
        c->config.backend->cancel(c, a);
    /* Late ones have not been started yet, or end by themselves: the ranks told them. */
    for (int j = 0; (a->started || c->ways.late) && j < a->joining; j++)
        if (process_at(c, a->joiners[j])->state != PROCESS_GONE)
            process_become(process_at(c, a->joiners[j]), c->ways.late ? PROCESS_GONE : PROCESS_RETURNING);
    a->state = state;
    snprintf(a->reason, sizeof a->reason, "%s", reason);
    publish_event(c, state == ADAPTATION_FAILED ? "failed" : "cancelled", a, a->reason);
    changes_off(c, a);
    if (is_for_phase(a))
        phase_cannot_run(c, a, a->reason);
    tell_of_drop(c, a, code);
    adaptation_retire(c, a);
}

void adaptation_fail(struct coordinator *c, const char *reason)
{
    adaptation_drop(c, ADAPTATION_FAILED, "failed", reason);
}

void adaptation_tell_requester(struct coordinator *c, const char *reason)
{
    if (c->adaptations.pending)
        waiters_answer(c, &c->adaptations.pending->waiters, reply_refusal("timeout", reason));
}

/* ---- For a phase that does not accept the present size ------------------------------------------- */

/*
 * All ranks hold before the first iteration of a phase that does not accept the present size. What was being
 * prepared was meant for the old size, so it is off; the phase's own wish is a shrink, which needs preparing only where
 * all ranks are replaced.
 */
void adaptation_for_phase(struct coordinator *c, int needs)
{
    struct position at = process_of_rank(c, 0)->at;
    char reason[200];
    struct error error;
    if (c->adaptations.pending && is_for_phase(c->adaptations.pending))
        return; /* its joiners are on their way */
    snprintf(reason, sizeof reason, "element %d '%s' does not accept %d ranks and asked for %d first", at.pc,
             names_element(c, at.pc), c->processes.size, needs);
    if (c->adaptations.pending)
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
    struct adaptation *a = adaptation_new(c, BY_PHASE, needs, needs);
    if (!a) {
        fatal_memory(c);
        return;
    }
    for (int r = needs; r < c->processes.size; r++)
        a->leaves[r] = 1;
    struct adaptation wish = *a;
    if (adaptation_prepare(c, a, NULL, &error))
        phase_cannot_run(c, &wish, error.text);
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

static void preconnect_init(struct coordinator *c)
{
    timer_init(&c->preconnect.limit, preconnect_timeout, c, &c->limits);
}

static void adaptation_init(struct coordinator *c)
{
    struct adaptations *s = &c->adaptations;
    timer_init(&s->prepare_limit, prepare_timeout, c, &c->preparing);
    timer_init(&s->connect_limit, connect_timeout, c, &c->limits);
    timer_init(&s->interval, NULL, c, NULL);
    preconnect_init(c);
}

static void adaptation_abandoned(struct coordinator *c, const void *handle)
{
    if (c->adaptations.pending)
        waiters_abandoned(c, &c->adaptations.pending->waiters, handle);
}

static void adaptation_end(struct coordinator *c, const char *reason)
{
    if (c->adaptations.pending)
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);
}

static void adaptation_destroy(struct coordinator *c)
{
    cJSON_Delete(c->ahead.places);
    cJSON_Delete(c->adaptations.data);
}

const struct part adaptation_part = {
    .init = adaptation_init, .abandoned = adaptation_abandoned, .end = adaptation_end, .destroy = adaptation_destroy};
