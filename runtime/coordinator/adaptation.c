/* The life of one adaptation: made, prepared, decided, committed, or dropped on the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backends/backend.h"
#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

static void adaptation_free(struct adaptation *a)
{
    free(a->leaves);
    free(a->joiners);
    free(a->port);
    cJSON_Delete(a->meeting);
    free(a);
}

struct adaptation *adaptation_new(struct coordinator *c, const char *by, int to, int requested)
{
    struct adaptation *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->leaves = calloc((size_t)c->size, 1);
    a->joiners = calloc((size_t)to, sizeof *a->joiners);
    if (!a->leaves || !a->joiners) {
        adaptation_free(a);
        return NULL;
    }
    a->id = c->adaptations + 1;
    a->from = c->size;
    a->to = to;
    a->requested_size = requested;
    a->by = by;
    a->at.pc = -1;
    a->requested = wall_seconds();
    return a;
}

/* "n1" and "n1.cluster.org" are the same host; two names with a domain are if they are equal. */
static bool same_host(const char *a, size_t a_length, const char *b)
{
    size_t a_short = strcspn(a, ".,"), b_short = strcspn(b, "."), b_length = strlen(b);
    if (a_short == a_length || b_short == b_length)
        return a_short == b_short && !strncmp(a, b, a_short);
    return a_length == b_length && !strncmp(a, b, a_length);
}

bool hosts_valid(const char *list)
{
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!*p || *p == ',' || *p == '-')
            return false;
    return !strpbrk(list, " \t\r\n");
}

bool host_listed(const char *list, const char *host)
{
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (same_host(p, strcspn(p, ","), host))
            return true;
    return false;
}

/* It is over, one way or the other: into the history. */
static void retire(struct coordinator *c, struct adaptation *a)
{
    c->history[a->id % HISTORY] = *a;
    c->adaptation = NULL;
    adaptation_free(a);
}

bool is_for_phase(const struct adaptation *a)
{
    return !strcmp(a->by, "phase");
}

void adaptation_prepared(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    const struct process *zero = &c->processes[c->world[0]];
    a->state = ADAPTATION_PREPARED;
    a->prepared = wall_seconds();
    publish(c, "prepared", a, NULL);
    if (is_for_phase(a)) { /* all ranks hold already */
        struct position at = zero->at;
        adaptation_window(c, &at, zero->count);
    }
}

static void everybody_ready(struct coordinator *c)
{
    if (!linking_start(c))
        adaptation_prepared(c);
}

void adaptation_start_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (!a || a->state != ADAPTATION_PREPARING || a->started || !c->config.backend->start(c, a))
        return;
    a->started = true;
    for (int j = 0; j < a->joining; j++) {
        struct process *p = &c->processes[a->joiners[j]];
        p->state = PROCESS_JOINING;
        p->met = p->ready = false;
    }
}

int adaptation_prepare(struct coordinator *c, struct adaptation *a, const char *hosts, char *error, size_t size)
{
    a->deadline = monotonic_seconds() + c->config.prepare_timeout;
    a->margin = c->config.prepare_timeout;
    if (all_are_replaced(c)) {
        memset(a->leaves, 1, (size_t)c->size);
        a->joining = a->to;
    }
    if (a->joining && c->config.backend->choose(c, a, hosts, error, size)) {
        adaptation_free(a);
        return -1;
    }
    c->adaptation = a;
    c->adaptations++;
    publish(c, "requested", a, NULL);
    if (a->joining && !joiners_come_late(c))
        adaptation_start_joiners(c);
    else
        everybody_ready(c);
    return 0;
}

/* One that waited in MPI for others to start would spin, or could not be called off. */
void adaptation_meet(struct coordinator *c, int process, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    const cJSON *ports = cJSON_GetObjectItemCaseSensitive(message, "ports");
    if (!a || a->state != ADAPTATION_PREPARING || json_int(message, "adaptation", 0) != a->id)
        return;
    c->processes[process].met = true;
    if (ports) {
        cJSON_Delete(a->meeting);
        a->meeting = json_message("meet");
        cJSON_AddItemToObject(a->meeting, "ports", cJSON_Duplicate(ports, 1));
    }
    for (int j = 0; j < a->joining; j++)
        if (!c->processes[a->joiners[j]].met)
            return;
    if (!a->meeting)
        return;
    for (int j = 0; j < a->joining; j++)
        c->config.ops->send(c->config.context, a->joiners[j], a->meeting);
}

void adaptation_ready(struct coordinator *c, int process, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    const char *failure = json_text(message, "failure");
    if (!failure && c->identity[0] && !c->processes[process].identified)
        failure = "it did not say which program it has";
    if (!a || a->state != ADAPTATION_PREPARING || json_int(message, "adaptation", 0) != a->id)
        return;
    if (failure) {
        char reason[200];
        snprintf(reason, sizeof reason, "a joining process (pid %d on %s) could not start: %s",
                 c->processes[process].pid, c->processes[process].host, failure);
        adaptation_drop(c, ADAPTATION_FAILED, "failed", reason);
        return;
    }
    if (json_text(message, "port") && !a->port)
        a->port = strdup(json_text(message, "port"));
    c->processes[process].ready = true;
    for (int j = 0; j < a->joining; j++)
        if (!c->processes[a->joiners[j]].ready)
            return;
    everybody_ready(c);
}

static void phase_cannot_run(struct coordinator *c, const struct adaptation *a, const char *reason)
{
    char text[400];
    int pc = c->processes[c->world[0]].at.pc;
    snprintf(text, sizeof text, "%s: element %d '%s' does not accept %d ranks, and there is no way to %d: %s",
             c->config.program->name, pc, element_name(c, pc), a->from, a->to, reason);
    c->config.ops->fatal(c->config.context, text);
}

void adaptation_drop(struct coordinator *c, enum adaptation_state state, const char *code, const char *reason)
{
    struct adaptation *a = c->adaptation;
    if (a->state != ADAPTATION_PREPARING && a->state != ADAPTATION_PREPARED)
        return;
    linking_off(c, a);
    if (a->started)
        c->config.backend->cancel(c, a);
    /* Late ones have not been started yet, or end by themselves: the ranks told them. */
    for (int j = 0; (a->started || joiners_come_late(c)) && j < a->joining; j++)
        if (c->processes[a->joiners[j]].state != PROCESS_GONE)
            c->processes[a->joiners[j]].state = joiners_come_late(c) ? PROCESS_GONE : PROCESS_RETURNING;
    a->state = state;
    snprintf(a->reason, sizeof a->reason, "%s", reason);
    publish(c, state == ADAPTATION_FAILED ? "failed" : "cancelled", a, a->reason);
    if (is_for_phase(a))
        phase_cannot_run(c, a, a->reason);
    answer(c, &a->handle, refusal(code, a->reason));
    retire(c, a);
}

void adaptation_unstarted(struct coordinator *c, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    if (!a || a->state != ADAPTATION_PREPARING || json_int(message, "adaptation", 0) != a->id)
        return;
    for (int j = 0; j < a->joining; j++)
        c->processes[a->joiners[j]].state = PROCESS_GONE;
    adaptation_drop(c, ADAPTATION_FAILED, "failed", json_text(message, "failure"));
}

/* ---- The window ------------------------------------------------------------- */

/* Where processes are started in the window, their start counts too. */
static double connect_limit(const struct coordinator *c)
{
    return c->config.connect_timeout + (joiners_come_late(c) ? c->config.prepare_timeout : 0);
}

struct plan *adaptation_plan(struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    struct plan *plan = plan_make(a->id, c->world, a->leaves, c->size, a->joiners, a->joining);
    if (plan) {
        plan->port = a->port ? strdup(a->port) : NULL;
        plan->connected = a->linking == LINKING_DONE;
    } else {
        c->config.ops->fatal(c->config.context, "out of memory in the coordinator");
    }
    return plan;
}

void adaptation_window(struct coordinator *c, const struct position *at, uint64_t count)
{
    struct adaptation *a = c->adaptation;
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    plan->at = *at;
    plan->count = count;
    a->at = *at;
    snprintf(a->element, sizeof a->element, "%s", element_name(c, at->pc));
    a->state = ADAPTATION_WINDOW;
    a->outstanding = plan_total(plan);
    a->unconnected = c->config.backend->ends && !plan->connected ? plan_total(plan) : 0; /* others cannot fail there */
    a->connected = plan->connected ? c->size : 0;
    a->connect_deadline = monotonic_seconds() + connect_limit(c);
    a->agreed = wall_seconds();
    c->agreement = AGREEMENT_NONE;

    cJSON *message = json_message("decide");
    cJSON_AddStringToObject(message, "action", "adapt");
    cJSON_AddNumberToObject(message, "count", (double)count);
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    int told = joiners_come_late(c) ? c->size : plan_total(plan); /* late ones are told by the ranks */
    for (int i = 0; i < plan_total(plan); i++) {
        if (i < told)
            c->config.ops->send(c->config.context, plan->processes[i], message);
        struct process *p = &c->processes[plan->processes[i]];
        p->arrived = p->ended = false; /* what they say from here on is of the new world */
        if (plan->new_ranks[i] < 0)
            p->state = PROCESS_LEAVING;
    }
    cJSON_Delete(message);
    plan_free(plan);
    publish(c, "agreed", a, NULL);
}

/* The world after the adaptation: staying ranks in their order, then the joining ones. */
static void take_new_world(struct coordinator *c, const struct adaptation *a)
{
    int size = 0;
    for (int r = 0; r < c->size; r++) {
        struct process *p = &c->processes[c->world[r]];
        p->rank = a->leaves[r] ? -1 : size;
        if (a->leaves[r])
            rollcall_forget(p);
        if (!a->leaves[r])
            c->world[size++] = c->world[r];
    }
    for (int j = 0; j < a->joining; j++) {
        struct process *p = &c->processes[a->joiners[j]];
        p->state = PROCESS_RUNNING;
        p->rank = size;
        c->world[size++] = a->joiners[j];
    }
    c->size = size;
    c->world_id = a->id;
    c->ahead_off = false;
}

/* One more process is through the window, or parked; the last one completes the adaptation. */
static void one_through(struct coordinator *c, struct adaptation *a)
{
    if (--a->outstanding)
        return;
    take_new_world(c, a);
    a->state = ADAPTATION_COMMITTED;
    a->committed = wall_seconds();
    c->last_commit = monotonic_seconds();
    publish(c, "committed", a, NULL);
    answer(c, &a->handle, resize_reply(a, "done"));
    retire(c, a);
    position_ask_again(c);
    agreement_check(c);
    rollcall_check(c);
    handle_deferred(c);
}

/* ---- Connecting: the last step that can be taken back ------------------------- */

/* All old ranks are back at their old size, at the probe of the target. */
static void undo(struct coordinator *c, struct adaptation *a, const char *reason)
{
    for (int r = 0; r < c->size; r++)
        c->processes[c->world[r]].state = PROCESS_RUNNING;
    a->state = ADAPTATION_PREPARED;
    adaptation_drop(c, ADAPTATION_FAILED, "failed", reason);
}

/* A joiner whose connect failed ends; what counts is whether all the old ranks failed, or none. */
void adaptation_connected(struct coordinator *c, int process, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    if (!a || json_int(message, "adaptation", 0) != a->id)
        return;
    if (linking_goes_on(c)) {
        linking_connected(c, message);
        return;
    }
    if (a->state != ADAPTATION_WINDOW)
        return;
    const char *failure = json_text(message, "failure");
    bool old = c->processes[process].rank >= 0;
    if (old && failure)
        a->failures++;
    else if (old)
        a->connected++;
    a->unconnected -= old || !failure;
    if (a->failures == c->size)
        undo(c, a, failure);
    else if (a->connected && a->failures)
        c->config.ops->fatal(c->config.context, "some ranks could connect to the joining processes and others not");
    else if (a->connected && a->kills)
        c->config.ops->fatal(c->config.context, "a joining process ended when the ranks were connected to it already");
}

/*
 * They may have ended by themselves. MPI's connect notices it at once, or when its own time limit is over. The ranks
 * stand still meanwhile: that limit is waited for once, and not for each joiner that is missed.
 */
void adaptation_end_joiners(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (a->kills++ == 0)
        a->connect_deadline += BACKEND_CONNECT_MORE;
    c->config.backend->kill(c, a);
}

void adaptation_connect_timeout(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (!c->config.backend->kill || !a->joining || a->connected)
        c->config.ops->fatal(c->config.context, "the ranks did not come together for an adaptation in time");
    else if (a->kills)
        c->config.ops->fatal(c->config.context, "the ranks are stuck in connecting to processes that were ended");
    else
        adaptation_end_joiners(c);
}

/* ---- Through ------------------------------------------------------------------- */

/* From the hold of the first old rank until now, where the first new rank goes on; after that it is known. */
static double standstill(const struct coordinator *c, const struct adaptation *a)
{
    double now = monotonic_seconds(), first = now;
    for (int r = 0; r < c->size && !a->stall; r++)
        if (c->processes[c->world[r]].held < first)
            first = c->processes[c->world[r]].held;
    return now - first;
}

void adaptation_committed(struct coordinator *c, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    if (!a || a->state != ADAPTATION_WINDOW || json_int(message, "adaptation", 0) != a->id)
        return;
    double stall = all_are_replaced(c) ? standstill(c, a) : json_number(message, "stall", 0);
    if (stall > a->stall)
        a->stall = stall;
    one_through(c, a);
}

void process_gone(struct coordinator *c, int process)
{
    struct process *p = &c->processes[process];
    bool leaving = p->state == PROCESS_LEAVING;
    p->state = PROCESS_GONE;
    p->rank = -1;
    if (leaving && c->adaptation)
        one_through(c, c->adaptation);
}

void process_hosts(struct coordinator *c, int process)
{
    struct process *p = &c->processes[process];
    bool leaving = p->state == PROCESS_LEAVING;
    p->state = PROCESS_HOSTING;
    if (leaving && c->adaptation)
        one_through(c, c->adaptation);
}

void process_parked(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = &c->processes[process];
    bool leaving = p->state == PROCESS_LEAVING;
    p->state = json_true(message, "reusable") ? PROCESS_STANDBY : PROCESS_SPENT;
    p->arrived = p->ended = p->answered = false;
    struct adaptation *a = c->adaptation;
    if (leaving && a)
        one_through(c, a);
    else
        adaptation_start_joiners(c);
}

/*
 * All ranks hold before the first iteration of a phase that does not accept the present size. What was being
 * prepared was meant for the old size, so it is off; the phase's own wish is a shrink, which needs preparing only where
 * all ranks are replaced. An agreement under way begins again afterwards, if there is still a reason.
 */
void adaptation_for_phase(struct coordinator *c, int needs)
{
    struct position at = c->processes[c->world[0]].at;
    char reason[200], error[200];
    if (c->adaptation && is_for_phase(c->adaptation))
        return; /* its joiners are on their way */
    snprintf(reason, sizeof reason, "element %d '%s' does not accept %d ranks and asked for %d first", at.pc,
             element_name(c, at.pc), c->size, needs);
    agreement_cancel(c);
    if (c->adaptation)
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", reason);

    struct adaptation *a = adaptation_new(c, "phase", needs, needs);
    if (!a) {
        c->config.ops->fatal(c->config.context, "out of memory in the coordinator");
        return;
    }
    for (int r = needs; r < c->size; r++)
        a->leaves[r] = 1;
    struct adaptation wish = *a;
    if (adaptation_prepare(c, a, NULL, error, sizeof error))
        phase_cannot_run(c, &wish, error);
}
