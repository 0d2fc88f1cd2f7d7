/* Breaks, steps, and going on: see stops.h. The ranks wait in a roll call; nothing is passed to them until then. */
#include "runtime/coordinator/stops.h"

#include <stdio.h>
#include <string.h>

#include "runtime/coordinator/rollcall.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

/* ---- Meeting a break ---------------------------------------------------------------- */

static bool same_position(const struct position *a, const struct position *b)
{
    return a->pc == b->pc && a->visit == b->visit && a->iteration == b->iteration;
}

/* Once per visit: without an iteration at the first one that comes by. */
static bool meets(const struct stop_place *place, const struct position *at, int rank)
{
    const struct breakpoint *b = &place->where;
    return b->pc == at->pc && (b->iteration < 0 || b->iteration == at->iteration) && (b->rank < 0 || b->rank == rank) &&
           place->met != at->visit;
}

static struct stop_place *find_met(struct stops *s, const struct position *at, int rank)
{
    for (int i = 0; i < s->count; i++)
        if (meets(&s->places[i], at, rank))
            return &s->places[i];
    return NULL;
}

static void send_halt(struct coordinator *c, bool halt)
{
    cJSON *message = json_message("halt");
    cJSON_AddBoolToObject(message, "halt", halt);
    send_to_world(c, message);
}

bool stops_keep(const struct coordinator *c, int rank)
{
    return c->stops.how == STOPPED_SOME && c->processes[c->world[rank]].halts;
}

/* ---- Telling of it -------------------------------------------------------------------- */

static bool is_stopped(const struct coordinator *c, int rank)
{
    return c->stops.how == STOPPED_ALL || stops_keep(c, rank);
}

static cJSON *rank_json(struct coordinator *c, int rank)
{
    const struct process *p = &c->processes[c->world[rank]];
    const char *block = json_text(p->claims ? p->claims->child : NULL, "block");
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "rank", rank);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    if (block)
        cJSON_AddStringToObject(json, "block", block);
    return json;
}

static cJSON *stopped_ranks(struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int rank = 0; rank < c->size; rank++)
        if (is_stopped(c, rank))
            cJSON_AddItemToArray(list, rank_json(c, rank));
    return list;
}

static cJSON *stopped_reply(struct coordinator *c)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", "done");
    cJSON_AddNumberToObject(reply, "pc", c->stops.at.pc);
    cJSON_AddStringToObject(reply, "element", element_name(c, c->stops.at.pc));
    cJSON_AddNumberToObject(reply, "iteration", (double)c->stops.at.iteration);
    cJSON_AddItemToObject(reply, "ranks", stopped_ranks(c));
    return reply;
}

/* The breakpoint makes gdb's own `continue` end in the block, once epopctl has let the rank go on. */
static void print_ranks(const cJSON *ranks)
{
    const cJSON *rank;
    cJSON_ArrayForEach(rank, ranks)
    {
        const char *block = json_text(rank, "block");
        fprintf(stderr, "epop:   rank %d on %s: gdb -p %d%s%s%s\n", json_int(rank, "rank", -1), json_text(rank, "host"),
                json_int(rank, "pid", 0), block ? " -ex 'tbreak *" : "", block ? block : "", block ? "'" : "");
    }
}

static void announce(struct coordinator *c)
{
    struct stops *s = &c->stops;
    s->announced = true;
    cJSON *reply = stopped_reply(c);
    fprintf(stderr, "epop: stopped before element %d '%s', iteration %lld (%s); epopctl step or continue %s\n",
            s->at.pc, element_name(c, s->at.pc), (long long)s->at.iteration, s->by, c->job);
    print_ranks(cJSON_GetObjectItemCaseSensitive(reply, "ranks"));
    answer(c, &s->waiter, reply);
    publish(c, "stopped", NULL, NULL);
}

/* ---- Stopping and going on --------------------------------------------------------------- */

/* rank -1: all, also if one is stopped already. */
static void stop(struct coordinator *c, const struct position *at, int rank, const char *by)
{
    struct stops *s = &c->stops;
    if (s->how == NOT_STOPPED) {
        s->since = monotonic_seconds();
        send_halt(c, true);
    }
    s->how = rank < 0 ? STOPPED_ALL : STOPPED_SOME;
    s->at = *at;
    s->stepping = s->announced = false;
    snprintf(s->by, sizeof s->by, "%s", by);
    if (rank >= 0) {
        c->processes[c->world[rank]].halts = true;
        announce(c);
    }
}

/* Does the first claim of this rank, if nobody has looked at it yet, stop it? */
static void look_at(struct coordinator *c, int rank)
{
    struct stops *s = &c->stops;
    const struct process *p = &c->processes[c->world[rank]];
    cJSON *claim = p->claims ? p->claims->child : NULL;
    if (!claim || !json_true(claim, "begins") || json_true(claim, "seen"))
        return;
    struct position at = position_from_json(claim);
    struct stop_place *place = find_met(s, &at, rank);
    cJSON_AddBoolToObject(claim, "seen", 1);
    if (place) {
        place->met = at.visit;
        stop(c, &at, place->where.rank, place->where.text);
    } else if (s->stepping && !same_position(&at, &s->at)) {
        stop(c, &at, -1, "step");
    }
}

void stops_look(struct coordinator *c)
{
    if (c->apart || (c->adaptation && c->adaptation->state == ADAPTATION_WINDOW))
        return;
    for (int rank = 0; rank < c->size && c->stops.how != STOPPED_ALL; rank++)
        look_at(c, rank);
}

bool stops_hold_all(struct coordinator *c)
{
    if (c->stops.how != STOPPED_ALL)
        return false;
    if (!c->stops.announced)
        announce(c);
    return true;
}

/* No time limit runs while the ranks are stopped. */
static void shift_deadlines(struct coordinator *c, double seconds)
{
    struct adaptation *a = c->adaptation;
    c->freeze_deadline += seconds;
    if (!a)
        return;
    a->deadline += seconds;
    a->connect_deadline += seconds;
    a->ping_deadline += seconds;
}

static void go_on(struct coordinator *c, int process)
{
    struct process *p = &c->processes[process];
    if (p->kept)
        send_to(c, process, json_message("passed"));
    p->kept = p->halts = false;
}

void stops_release(struct coordinator *c)
{
    struct stops *s = &c->stops;
    if (s->how == NOT_STOPPED)
        return;
    shift_deadlines(c, monotonic_seconds() - s->since);
    s->how = NOT_STOPPED;
    send_halt(c, false);
    for (int rank = 0; rank < c->size; rank++)
        go_on(c, c->world[rank]);
    publish(c, "continued", NULL, NULL);
    rollcall_check(c);
}

/* ---- Requests ------------------------------------------------------------------------------- */

static cJSON *accepted(const char *code)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", code);
    return reply;
}

static int find_place(const struct stops *s, const struct breakpoint *b)
{
    for (int i = 0; i < s->count; i++) {
        const struct breakpoint *other = &s->places[i].where;
        if (other->pc == b->pc && other->iteration == b->iteration && other->rank == b->rank)
            return i;
    }
    return -1;
}

static void remove_break(struct coordinator *c, void *handle, const struct breakpoint *b)
{
    struct stops *s = &c->stops;
    int found = find_place(s, b);
    if (found < 0) {
        answer(c, &handle, refusal("refused", "there is no such break"));
        return;
    }
    memmove(&s->places[found], &s->places[found + 1], (size_t)(s->count - found - 1) * sizeof *s->places);
    s->count--;
    answer(c, &handle, accepted("done"));
}

static void add_break(struct coordinator *c, void *handle, const struct breakpoint *b, bool waits)
{
    struct stops *s = &c->stops;
    if (find_place(s, b) < 0) {
        if (s->count == ROLLCALL_BREAKS_MAX) {
            answer(c, &handle, refusal("refused", "there are too many breaks; remove one"));
            return;
        }
        s->places[s->count++] = (struct stop_place){.where = *b};
    }
    if (waits && s->waiter) {
        answer(c, &handle, refusal("refused", "another epopctl waits for the next stop"));
    } else if (waits) {
        s->waiter = handle;
    } else {
        cJSON *reply = accepted("accepted");
        if (b->rank >= c->size)
            cJSON_AddStringToObject(reply, "note", "there is no such rank yet");
        answer(c, &handle, reply);
    }
}

static void handle_break(struct coordinator *c, void *handle, const cJSON *request)
{
    char why[300];
    struct breakpoint b;
    const char *text = json_text(request, "at");
    if (epop__breakpoint_parse(c->config.program, text ? text : "", &b, why, sizeof why))
        answer(c, &handle, refusal("refused", why));
    else if (json_true(request, "remove"))
        remove_break(c, handle, &b);
    else
        add_break(c, handle, &b, json_true(request, "wait"));
}

static void handle_go(struct coordinator *c, void *handle, bool step)
{
    if (c->stops.how == NOT_STOPPED) {
        answer(c, &handle, refusal("refused", "the ranks are not stopped; epopctl break stops them"));
        return;
    }
    c->stops.stepping = step;
    if (step && !c->stops.waiter)
        c->stops.waiter = handle;
    else
        answer(c, &handle, accepted("done"));
    stops_release(c);
}

bool stops_request(struct coordinator *c, void *handle, const char *op, const cJSON *request)
{
    bool known = !strcmp(op, "break") || !strcmp(op, "step") || !strcmp(op, "continue");
    if (!known)
        return false;
    if (!c->config.rollcall)
        answer(c, &handle,
               refusal("refused", "the job does not run under the debug driver; start it with --driver debug"));
    else if (c->stopping || c->finished)
        answer(c, &handle, refusal("refused", "the job is ending"));
    else if (!strcmp(op, "break"))
        handle_break(c, handle, request);
    else
        handle_go(c, handle, !strcmp(op, "step"));
    return true;
}

void stops_abandoned(struct coordinator *c, void *handle)
{
    if (c->stops.waiter == handle)
        answer(c, &c->stops.waiter, refusal("failed", "the requester has gone"));
}

void stops_refuse_waiting(struct coordinator *c, const char *reason)
{
    answer(c, &c->stops.waiter, refusal("failed", reason));
}

cJSON *stops_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < c->stops.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->stops.places[i].where.text));
    return list;
}
