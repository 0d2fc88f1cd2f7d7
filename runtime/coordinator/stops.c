/* Breaks, steps, and going on: see stops.h. The ranks wait in a roll call; nothing is passed to them until then. */
#include "runtime/coordinator/stops.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/publish.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- Meeting a break ---------------------------------------------------------------- */

static bool same_position(const struct position *a, const struct position *b)
{
    return a->pc == b->pc && a->visit == b->visit && a->iteration == b->iteration;
}

/* Once per visit: without an iteration at the first one that comes by. */
static bool meets(const struct stop_place *place, const struct position *at, int rank)
{
    const struct breakpoint *b = &place->breakpoint;
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
    cJSON *message = json_message(ORDER(halt));
    cJSON_AddBoolToObject(message, "halt", halt);
    processes_send_world(c, message);
}

bool stops_keep(const struct coordinator *c, int rank)
{
    return c->stops.how == STOPPED_SOME && process_of_rank(c, rank)->halts;
}

/* ---- Telling of it -------------------------------------------------------------------- */

static bool is_stopped(const struct coordinator *c, int rank)
{
    return c->stops.how == STOPPED_ALL || stops_keep(c, rank);
}

static cJSON *rank_json(struct coordinator *c, int rank)
{
    const struct process *p = process_of_rank(c, rank);
    const struct report_claim *claim = p->claims ? p->claims->message.is : NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "rank", rank);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    if (claim && claim->block)
        cJSON_AddStringToObject(json, "block", claim->block);
    return json;
}

static cJSON *stopped_ranks(struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int rank = 0; rank < c->processes.size; rank++)
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
    cJSON_AddStringToObject(reply, "element", names_element(c, c->stops.at.pc));
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
        say_line("  rank %d on %s: gdb -p %d%s%s%s", json_int(rank, "rank", -1), json_text(rank, "host"),
                 json_int(rank, "pid", 0), block ? " -ex 'tbreak *" : "", block ? block : "", block ? "'" : "");
    }
}

static void announce(struct coordinator *c)
{
    struct stops *s = &c->stops;
    s->announced = true;
    cJSON *reply = stopped_reply(c);
    say_line("stopped before element %d '%s', iteration %lld (%s); epopctl step or continue %s", s->at.pc,
             names_element(c, s->at.pc), (long long)s->at.iteration, s->by, c->job);
    print_ranks(cJSON_GetObjectItemCaseSensitive(reply, "ranks"));
    reply_send(c, &s->waiter, reply);
    publish_event(c, "stopped", NULL, NULL);
}

/* ---- Stopping and going on --------------------------------------------------------------- */

/* No time limit runs while the ranks are stopped. */
static void stop_limits(struct coordinator *c)
{
    timers_stop(&c->timers, &c->limits);
    timers_stop(&c->timers, &c->preparing);
}

/* rank -1: all, also if one is stopped already. */
static void stop(struct coordinator *c, const struct position *at, int rank, const char *by)
{
    struct stops *s = &c->stops;
    if (s->how == NOT_STOPPED) {
        stop_limits(c);
        send_halt(c, true);
    }
    s->how = rank < 0 ? STOPPED_ALL : STOPPED_SOME;
    position_progress_came(c);
    s->at = *at;
    s->stepping = s->announced = false;
    snprintf(s->by, sizeof s->by, "%s", by);
    if (rank >= 0) {
        process_of_rank(c, rank)->halts = true;
        announce(c);
    }
}

/* Does the first claim of this rank, if nobody has looked at it yet, stop it? */
static void look_at(struct coordinator *c, int rank)
{
    struct stops *s = &c->stops;
    const struct process *p = process_of_rank(c, rank);
    const struct report_claim *claim = p->claims ? p->claims->message.is : NULL;
    if (!claim || !claim->begins || p->claims->seen)
        return;
    const struct position at = POSITION_OF(claim);
    struct stop_place *place = find_met(s, &at, rank);
    p->claims->seen = true;
    if (place) {
        place->met = at.visit;
        stop(c, &at, place->breakpoint.rank, place->breakpoint.text);
    } else if (s->stepping && !same_position(&at, &s->at)) {
        stop(c, &at, -1, "step");
    }
}

void stops_look(struct coordinator *c)
{
    if (c->rollcall.apart || adaptation_is(c, ADAPTATION_WINDOW))
        return;
    for (int rank = 0; rank < c->processes.size && c->stops.how != STOPPED_ALL; rank++)
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

void stops_note_kept(struct process *p, bool kept)
{
    p->kept = kept;
}

static void go_on(struct coordinator *c, struct process *p)
{
    if (p->kept)
        processes_send(c, process_number(c, p), json_message(ORDER(passed)));
    p->kept = p->halts = false;
}

void stops_release(struct coordinator *c, bool step)
{
    struct stops *s = &c->stops;
    s->stepping = step;
    if (s->how == NOT_STOPPED)
        return;
    timers_go_on(&c->timers, &c->limits);
    timers_go_on(&c->timers, &c->preparing);
    s->how = NOT_STOPPED;
    send_halt(c, false);
    for (int rank = 0; rank < c->processes.size; rank++)
        go_on(c, process_of_rank(c, rank));
    publish_event(c, "continued", NULL, NULL);
}

/* ---- Breaks, and who waits ------------------------------------------------------------ */

static int find_place(const struct stops *s, const struct breakpoint *b)
{
    for (int i = 0; i < s->count; i++) {
        const struct breakpoint *other = &s->places[i].breakpoint;
        if (other->pc == b->pc && other->iteration == b->iteration && other->rank == b->rank)
            return i;
    }
    return -1;
}

int stops_add(struct coordinator *c, const struct breakpoint *b)
{
    struct stops *s = &c->stops;
    if (find_place(s, b) >= 0)
        return 0;
    if (s->count == ROLLCALL_BREAKS_MAX)
        return -1;
    s->places[s->count++] = (struct stop_place){.breakpoint = *b};
    return 0;
}

int stops_remove(struct coordinator *c, const struct breakpoint *b)
{
    struct stops *s = &c->stops;
    int found = find_place(s, b);
    if (found < 0)
        return -1;
    memmove(&s->places[found], &s->places[found + 1], (size_t)(s->count - found - 1) * sizeof *s->places);
    s->count--;
    return 0;
}

int stops_await(struct coordinator *c, void *handle)
{
    if (c->stops.waiter)
        return -1;
    c->stops.waiter = handle;
    return 0;
}

void stops_abandoned(struct coordinator *c, const void *handle)
{
    if (c->stops.waiter == handle)
        reply_send(c, &c->stops.waiter, reply_refusal("failed", "the requester has gone"));
}

void stops_end(struct coordinator *c, const char *reason)
{
    reply_send(c, &c->stops.waiter, reply_refusal("failed", reason));
    c->stops.count = 0;
    stops_release(c, false);
}

bool stops_are_on(const struct coordinator *c)
{
    return c->stops.how != NOT_STOPPED;
}

void stops_init(struct coordinator *c)
{
    const struct rollcall_options *options = c->config.rollcall;
    for (int i = 0; options && i < options->count; i++)
        c->stops.places[c->stops.count++].breakpoint = options->breaks[i];
}

cJSON *stops_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < c->stops.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->stops.places[i].breakpoint.text));
    return list;
}
