/* Breaks, steps, roll calls, and a crashed process that dumps its memory. */
#include "runtime/coordinator/debugging.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/random.h"
#include "runtime/base/say.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/member/claim.h"
#include "runtime/wire/messages.h"

/* ---- Where to stop ------------------------------------------------------------------------------- */

/* Reading PHASE[:ITERATION][@RANK]. A name may contain both signs: what is no number behind one belongs to the name. */

/* Cuts SIGN and a number off the end of text. -1 where there is none. */
static long long cut_number(char *text, char sign)
{
    char *at = strrchr(text, sign), *end;
    if (!at || at == text || at[1] < '0' || at[1] > '9')
        return -1;
    errno = 0;
    long long number = strtoll(at + 1, &end, 10);
    if (*end || errno)
        return -1;
    *at = '\0';
    return number;
}

static const char *name_of(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

/* By name, else by number. */
static int find_element(const epop_program_t *program, const char *name)
{
    char *end;
    for (int pc = 0; pc < program->size; pc++)
        if (!strcmp(name_of(&program->elements[pc]), name))
            return pc;
    long pc = strtol(name, &end, 10);
    return *name && !*end && pc >= 0 && pc < program->size ? (int)pc : -1;
}

int epop__breakpoint_parse(const epop_program_t *program, const char *text, struct breakpoint *b, struct error *why)
{
    char name[sizeof b->text];
    if (!text[0] || strlen(text) >= sizeof name) {
        return error_set(why, ERROR_FAILED, "a place to stop at is PHASE[:ITERATION][@RANK], not '%.80s'", text);
    }
    strcpy(name, text);
    strcpy(b->text, text);
    long long rank = cut_number(name, '@');
    b->rank = rank > INT_MAX ? INT_MAX : (int)rank;
    b->iteration = cut_number(name, ':');
    b->pc = find_element(program, name);
    if (b->pc < 0)
        error_set(why, ERROR_FAILED, "%.100s has no element '%.80s'; see epop --driver check", program->name, name);
    else if (b->pc == 0)
        error_set(why, ERROR_FAILED, "INIT is no place to stop at: ranks that join run it on their own");
    else if (program->elements[b->pc].type == EPOP_BRANCH && b->iteration > 0)
        error_set(why, ERROR_FAILED, "element %d '%.80s' is a branch and has no iteration %lld", b->pc, name,
                  (long long)b->iteration);
    else
        return 0;
    return -1;
}

/* ---- Meeting a break ----------------------------------------------------------------------------- */

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

static struct stop_place *find_met(struct halts *s, const struct position *at, int rank)
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

/* Is this rank kept where it is, while the others pass? */
static bool halts_keep(const struct coordinator *c, int rank)
{
    return c->halts.how == STOPPED_SOME && process_of_rank(c, rank)->halts;
}

/* ---- What has to be told ------------------------------------------------------------------------- */

/* Every claim, not only those at which a break may be met. */
static bool watches_all(const struct coordinator *c)
{
    return c->halts.stepping || c->halts.how != NOT_STOPPED || c->rollcall.apart;
}

static cJSON *watched_places(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < c->halts.count; i++) {
        const struct stop_place *place = &c->halts.places[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "pc", place->breakpoint.pc);
        cJSON_AddNumberToObject(json, "iteration", (double)place->breakpoint.iteration);
        cJSON_AddNumberToObject(json, "met", (double)place->met);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

/* To ranks that compare their claims themselves: whenever it changes. */
static void send_aloud(struct coordinator *c)
{
    if (c->rollcall.muster.stage != MUSTER_BEGUN)
        return;
    cJSON *message = json_message(ORDER(aloud));
    if (watches_all(c))
        cJSON_AddTrueToObject(message, "all");
    else
        cJSON_AddItemToObject(message, "places", watched_places(c));
    processes_send_world(c, message);
}

/* ---- Telling of it ------------------------------------------------------------------------------- */

static bool is_stopped(const struct coordinator *c, int rank)
{
    return c->halts.how == STOPPED_ALL || halts_keep(c, rank);
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
    cJSON_AddNumberToObject(reply, "pc", c->halts.at.pc);
    cJSON_AddStringToObject(reply, "element", names_element(c, c->halts.at.pc));
    cJSON_AddNumberToObject(reply, "iteration", (double)c->halts.at.iteration);
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
    struct halts *s = &c->halts;
    s->announced = true;
    cJSON *reply = stopped_reply(c);
    say_line("stopped before element %d '%s', iteration %lld (%s); epopctl step or continue %s", s->at.pc,
             names_element(c, s->at.pc), (long long)s->at.iteration, s->by, c->job);
    print_ranks(cJSON_GetObjectItemCaseSensitive(reply, "ranks"));
    reply_send(c, &s->waiter, reply);
    publish_event(c, "stopped", NULL, NULL);
}

/* ---- Stopping and going on ----------------------------------------------------------------------- */

/* No time limit runs while the ranks are stopped. */
static void stop_limits(struct coordinator *c)
{
    timers_stop(&c->timers, &c->limits);
    timers_stop(&c->timers, &c->preparing);
}

/* rank -1: all, also if one is stopped already. */
static void stop_ranks(struct coordinator *c, const struct position *at, int rank, const char *by)
{
    struct halts *s = &c->halts;
    if (s->how == NOT_STOPPED) {
        stop_limits(c);
        send_halt(c, true);
    }
    s->how = rank < 0 ? STOPPED_ALL : STOPPED_SOME;
    position_progress_came(c);
    s->at = *at;
    s->stepping = s->announced = false;
    snprintf(s->by, sizeof s->by, "%s", by);
    send_aloud(c);
    if (rank >= 0) {
        process_of_rank(c, rank)->halts = true;
        announce(c);
    }
}

/* Does the first claim of this rank, if nobody has looked at it yet, stop it? One that another rank told does not:
 * where it may stop, it tells it itself. */
static void stops_look_at(struct coordinator *c, int rank)
{
    struct halts *s = &c->halts;
    const struct process *p = process_of_rank(c, rank);
    const struct report_claim *claim = p->claims ? p->claims->message.is : NULL;
    if (!claim || !claim->begins || p->claims->seen || p->claims->by != CLAIM_OWN)
        return;
    const struct position at = POSITION_OF(claim);
    struct stop_place *place = find_met(s, &at, rank);
    p->claims->seen = true;
    if (place) {
        place->met = at.visit;
        stop_ranks(c, &at, place->breakpoint.rank, place->breakpoint.text);
    } else if (s->stepping && !same_position(&at, &s->at)) {
        stop_ranks(c, &at, -1, "step");
    }
}

/* Does one of the first claims meet a break? Then the ranks are stopped. */
static void stops_look(struct coordinator *c)
{
    if (c->rollcall.apart || adaptation_is(c, ADAPTATION_WINDOW))
        return;
    for (int rank = 0; rank < c->processes.size && c->halts.how != STOPPED_ALL; rank++)
        stops_look_at(c, rank);
}

/* All ranks have come to the same place: are they stopped there, so that none passes? */
static bool stops_hold_all(struct coordinator *c)
{
    if (c->halts.how != STOPPED_ALL)
        return false;
    if (!c->halts.announced)
        announce(c);
    return true;
}

/* Its claim has passed; kept: it is told when it goes on. */
static void stops_note_kept(struct process *p, bool kept)
{
    p->kept = kept;
}

static void stops_resume(struct coordinator *c, struct process *p)
{
    if (p->kept)
        processes_send(c, process_number(c, p), json_message(ORDER(passed)));
    p->kept = p->halts = false;
}

/* The ranks go on, as for `continue`, where they are stopped; then what they claim is to be checked. step: up to the
 * next iteration. */
static void stops_release(struct coordinator *c, bool step)
{
    struct halts *s = &c->halts;
    s->stepping = step;
    if (s->how == NOT_STOPPED)
        return;
    timers_go_on(&c->timers, &c->limits);
    timers_go_on(&c->timers, &c->preparing);
    s->how = NOT_STOPPED;
    send_aloud(c);
    send_halt(c, false);
    for (int rank = 0; rank < c->processes.size; rank++)
        stops_resume(c, process_of_rank(c, rank));
    publish_event(c, "continued", NULL, NULL);
}

/* ---- Breaks, and who waits ----------------------------------------------------------------------- */

static int find_place(const struct halts *s, const struct breakpoint *b)
{
    for (int i = 0; i < s->count; i++) {
        const struct breakpoint *other = &s->places[i].breakpoint;
        if (other->pc == b->pc && other->iteration == b->iteration && other->rank == b->rank)
            return i;
    }
    return -1;
}

/* Set one, unless it is there; 0, or -1: too many. Take one out; -1: there is none. */
static int stops_add(struct coordinator *c, const struct breakpoint *b)
{
    struct halts *s = &c->halts;
    if (find_place(s, b) >= 0)
        return 0;
    if (s->count == ROLLCALL_BREAKS_MAX)
        return -1;
    s->places[s->count++] = (struct stop_place){.breakpoint = *b};
    send_aloud(c);
    return 0;
}

static int stops_remove(struct coordinator *c, const struct breakpoint *b)
{
    struct halts *s = &c->halts;
    int found = find_place(s, b);
    if (found < 0)
        return -1;
    memmove(&s->places[found], &s->places[found + 1], (size_t)(s->count - found - 1) * sizeof *s->places);
    s->count--;
    send_aloud(c);
    return 0;
}

static int stops_await(struct coordinator *c, void *handle)
{
    if (c->halts.waiter)
        return -1;
    c->halts.waiter = handle;
    return 0;
}

/* The handle hears of the next stop; -1: another waits already. */
static void stops_abandoned(struct coordinator *c, const void *handle)
{
    if (c->halts.waiter == handle)
        reply_send(c, &c->halts.waiter, reply_refusal("failed", "the requester has gone"));
}

void halts_end(struct coordinator *c, const char *reason)
{
    reply_send(c, &c->halts.waiter, reply_refusal("failed", reason));
    c->halts.count = 0;
    stops_release(c, false);
}

bool halts_are_on(const struct coordinator *c)
{
    return c->halts.how != NOT_STOPPED;
}

/* The breaks of the command line. */
static void stops_init(struct coordinator *c)
{
    const struct rollcall_options *options = c->config.rollcall;
    for (int i = 0; options && i < options->count; i++)
        c->halts.places[c->halts.count++].breakpoint = options->breaks[i];
}

cJSON *halts_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < c->halts.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->halts.places[i].breakpoint.text));
    return list;
}

/* ---- Requests ------------------------------------------------------------------------------------ */

/* Why none of them can be met; NULL: it can. */
static const char *refuses(const struct coordinator *c)
{
    return !c->config.rollcall ? "the job does not run under the debug driver; start it with --driver debug"
           : c->stop.asked || c->ending.finished ? "the job is ending"
                                                 : NULL;
}

static cJSON *breaks_add(struct coordinator *c, void **handle, const struct breakpoint *b, bool waits)
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
        reply = request->remove ? take_out(c, &b) : breaks_add(c, &handle, &b, request->wait);
    if (reply)
        reply_send(c, &handle, reply);
}

static void breaks_go_on(struct coordinator *c, void *handle, bool step)
{
    const char *why = refuses(c);
    if (!why && !halts_are_on(c))
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
    breaks_go_on(c, handle, true);
}

void breaks_continue(struct coordinator *c, void *handle)
{
    breaks_go_on(c, handle, false);
}

/* ---- Roll calls ---------------------------------------------------------------------------------- */

/*
 * Roll calls on the coordinator's side. Each process's claims wait in a queue; a round is over when the first in every
 * queue are there and the same. The coordinator never waits for a claim: a rank that stays in a block is no breach.
 */

/* When two claims differ, the others have so long to come in, so that the few can be told from the many. */
#define GRACE 0.4

/* ---- Who takes part ------------------------------------------------------------------------------ */

/* In a window old and joining ranks, else the world. */
static int count_participants(const struct coordinator *c)
{
    return c->processes.size + (adaptation_is(c, ADAPTATION_WINDOW) ? adaptation_pending(c)->joining : 0);
}

static struct process *participant(const struct coordinator *c, int i)
{
    return process_at(c, i < c->processes.size ? c->processes.world[i]
                                               : adaptation_pending(c)->joiners[i - c->processes.size]);
}

static const struct report_claim *claim_of(const struct process *p)
{
    return p->claims ? p->claims->message.is : NULL;
}

/* ---- Blame --------------------------------------------------------------------------------------- */

static bool same_claim(const struct report_claim *a, const struct report_claim *b)
{
    return a->pc == b->pc && a->visit == b->visit && a->iteration == b->iteration && a->window == b->window &&
           !strcmp(a->words, b->words);
}

/* "ranks 0, 2 and 3": those whose claim is like this one. */
static void list_ranks(const struct coordinator *c, const struct report_claim *claim, char *text, size_t size)
{
    int total = count_participants(c), alike = 0, listed = 0;
    for (int i = 0; i < total; i++)
        alike += claim_of(participant(c, i)) && same_claim(claim_of(participant(c, i)), claim);
    int length = snprintf(text, size, alike == 1 ? "rank" : "ranks");
    for (int i = 0; i < total && (size_t)length < size; i++) {
        const struct report_claim *other = claim_of(participant(c, i));
        if (!other || !same_claim(other, claim))
            continue;
        const char *before = listed == 0 ? "" : listed == alike - 1 ? " and" : ",";
        listed++;
        length += i < c->processes.size ? snprintf(text + length, size - (size_t)length, "%s %d", before, i)
                                        : snprintf(text + length, size - (size_t)length, "%s (joining) %d", before,
                                                   i - c->processes.size);
    }
}

static int count_alike(const struct coordinator *c, const struct report_claim *claim)
{
    int alike = 0;
    for (int i = 0; i < count_participants(c); i++)
        alike += claim_of(participant(c, i)) && same_claim(claim_of(participant(c, i)), claim);
    return alike;
}

/* What most ranks say; of as many, what the lowest rank says. */
static const struct report_claim *find_majority(const struct coordinator *c)
{
    const struct report_claim *best = NULL;
    for (int i = 0; i < count_participants(c); i++) {
        const struct report_claim *claim = claim_of(participant(c, i));
        if (claim && (!best || count_alike(c, claim) > count_alike(c, best)))
            best = claim;
    }
    return best;
}

static const struct report_claim *find_other(const struct coordinator *c, const struct report_claim *majority)
{
    for (int i = 0; i < count_participants(c); i++) {
        const struct report_claim *claim = claim_of(participant(c, i));
        if (claim && !same_claim(claim, majority))
            return claim;
    }
    return NULL;
}

static void describe_place(struct coordinator *c, const struct report_claim *claim, char *text, size_t size)
{
    const struct position at = POSITION_OF(claim);
    if (at.pc < c->config.program->size)
        snprintf(text, size, "element %d '%.60s' (%s), iteration %lld", at.pc, names_element(c, at.pc),
                 epop_element_type_name(c->config.program->elements[at.pc].type), (long long)at.iteration);
    else
        snprintf(text, size, "the end");
}

static void complain(struct coordinator *c, const char *text)
{
    if (!c->config.rollcall->warns) {
        fatal(c, text);
        return;
    }
    say_line("warning: %s", text);
}

static void differ(struct coordinator *c, const struct report_claim *majority, const struct report_claim *odd)
{
    char few[120], many[120], here[140], there[140], place[180] = "", text[900];
    list_ranks(c, odd, few, sizeof few);
    list_ranks(c, majority, many, sizeof many);
    describe_place(c, odd, here, sizeof here);
    describe_place(c, majority, there, sizeof there);
    if (odd->pc != majority->pc || odd->iteration != majority->iteration)
        snprintf(place, sizeof place, " (at %s)", there);
    else if (odd->visit != majority->visit)
        snprintf(place, sizeof place, " (in visit %lld, not %lld)", (long long)majority->visit, (long long)odd->visit);
    snprintf(text, sizeof text, "%s: %s, %s of %d: %s; but %s%s: %s; it must be the same on every rank",
             c->config.program->name, here, few, count_participants(c), odd->words, many, place, majority->words);
    complain(c, text);
    c->rollcall.apart = true; /* and not compared from here on */
    send_aloud(c);
}

/* ---- The ranks of a host ------------------------------------------------------------------------- */

static bool share_host(const struct coordinator *c, int rank, int other)
{
    return !strcmp(process_of_rank(c, rank)->host, process_of_rank(c, other)->host);
}

/* Of the ranks below this number, those on the same host as this rank. */
static int count_on_host(const struct coordinator *c, int rank, int below)
{
    int count = 0;
    for (int other = 0; other < below; other++)
        count += share_host(c, rank, other);
    return count;
}

/* It makes its host's memory. */
static int first_on_host(const struct coordinator *c, int rank)
{
    int first = 0;
    while (!share_host(c, rank, first))
        first++;
    return first;
}

/* Is there any rank that need not ask the coordinator? Else all do. */
static bool are_several_on_a_host(const struct coordinator *c)
{
    for (int rank = 1; rank < c->processes.size; rank++)
        if (first_on_host(c, rank) != rank)
            return true;
    return c->processes.size == 1;
}

/* In this round: has the rank that memory? */
static bool has_muster(const struct coordinator *c, int rank)
{
    const struct report_claim *claim = claim_of(process_of_rank(c, rank));
    return claim && claim->muster && !strcmp(claim->muster, c->rollcall.muster.mark);
}

/* Those that make it, or all. */
static bool have_muster(const struct coordinator *c, bool all)
{
    for (int rank = 0; rank < c->processes.size; rank++)
        if ((all || first_on_host(c, rank) == rank) && !has_muster(c, rank))
            return false;
    return true;
}

static void note_descriptors(struct coordinator *c)
{
    for (int rank = 0; rank < c->processes.size; rank++)
        process_of_rank(c, rank)->fd = claim_of(process_of_rank(c, rank))->fd;
}

static enum muster_stage next_stage(struct coordinator *c)
{
    struct world_muster *m = &c->rollcall.muster;
    switch (m->stage) {
    case MUSTER_NONE:
        return are_several_on_a_host(c) && !random_hex(m->mark, MUSTER_MARK / 2) ? MUSTER_ASKED : MUSTER_NONE;
    case MUSTER_ASKED:
        if (!have_muster(c, false))
            return MUSTER_ASKED;
        note_descriptors(c);
        return c->processes.size > 1 ? MUSTER_SHOWN : MUSTER_BEGUN;
    case MUSTER_SHOWN:
        return have_muster(c, true) ? MUSTER_BEGUN : MUSTER_SHOWN;
    case MUSTER_BEGUN:
        break;
    }
    return MUSTER_BEGUN;
}

/* All ranks have claimed the same. True if there is something for them to hear when they pass. */
static bool muster_advances(struct coordinator *c)
{
    enum muster_stage before = c->rollcall.muster.stage;
    if (c->rollcall.apart || halts_are_on(c) || adaptation_is(c, ADAPTATION_WINDOW))
        return false;
    c->rollcall.muster.stage = next_stage(c);
    if (c->rollcall.muster.stage == before)
        return false;
    send_aloud(c);
    return true;
}

static void add_memory(struct coordinator *c, cJSON *message, int rank)
{
    const struct process *maker = process_of_rank(c, first_on_host(c, rank));
    cJSON *json = cJSON_AddObjectToObject(message, "muster");
    int places = count_on_host(c, rank, c->processes.size), place = count_on_host(c, rank, rank);
    cJSON_AddStringToObject(json, "mark", c->rollcall.muster.mark);
    cJSON_AddNumberToObject(json, "places", places);
    cJSON_AddNumberToObject(json, "place", place);
    cJSON_AddBoolToObject(json, "whole", places == c->processes.size);
    if (place == 0)
        return;
    cJSON_AddNumberToObject(json, "pid", maker->pid);
    cJSON_AddNumberToObject(json, "fd", maker->fd);
}

static void add_stage(struct coordinator *c, cJSON *message, int rank)
{
    enum muster_stage stage = c->rollcall.muster.stage;
    if (stage == MUSTER_BEGUN)
        cJSON_AddTrueToObject(message, "begins");
    else if ((first_on_host(c, rank) == rank) == (stage == MUSTER_ASKED))
        add_memory(c, message, rank);
}

/* ---- Rounds -------------------------------------------------------------------------------------- */

/* Of a claim for its host. */
static cJSON *round_passed(const struct report_claim *claim)
{
    cJSON *message = json_message(ORDER(passed));
    cJSON_AddNumberToObject(message, "round", (double)claim->round);
    return message;
}

/* kept: it does not hear of it before stops_release. advanced: muster_advances. */
static void pass(struct coordinator *c, struct process *p, bool kept, bool advanced)
{
    enum claim_by by = p->claims->by;
    cJSON *message = by == CLAIM_FOR_HOST ? round_passed(claim_of(p)) : json_message(ORDER(passed));
    process_pass_claim(p);
    stops_note_kept(p, kept);
    if (advanced)
        add_stage(c, message, p->rank);
    if (kept || by == CLAIM_BY_OTHER)
        cJSON_Delete(message);
    else
        processes_send(c, process_number(c, p), message);
}

/* The first claims: is one missing, and are those that are there the same? */
static bool look_round(const struct coordinator *c, const struct report_claim **odd,
                       const struct report_claim **majority)
{
    const struct report_claim *first = NULL;
    bool complete = true;
    *odd = *majority = NULL;
    for (int i = 0; i < count_participants(c); i++) {
        const struct report_claim *claim = claim_of(participant(c, i));
        if (!claim)
            complete = false;
        else if (!first)
            first = claim;
        else if (!same_claim(claim, first))
            *odd = claim;
    }
    if (*odd) {
        *majority = find_majority(c);
        *odd = find_other(c, *majority);
    }
    return complete;
}

static void pass_all(struct coordinator *c)
{
    int total = count_participants(c);
    bool advanced = muster_advances(c);
    for (int i = 0; i < total; i++) {
        struct process *p = participant(c, i);
        if (!c->rollcall.apart)
            pass(c, p, halts_keep(c, i), advanced);
        while (c->rollcall.apart && claim_of(p))
            pass(c, p, false, false);
    }
}

static void begin_grace(struct coordinator *c)
{
    c->rollcall.differs = true;
    timers_set(&c->timers, &c->rollcall.grace, GRACE);
}

static void end_grace(struct coordinator *c)
{
    c->rollcall.differs = c->rollcall.late = false;
    timers_cancel(&c->timers, &c->rollcall.grace);
}

void rollcall_check(struct coordinator *c)
{
    const struct report_claim *odd, *majority;
    if (!c->config.rollcall)
        return;
    for (;;) {
        stops_look(c);
        bool complete = look_round(c, &odd, &majority);
        if (c->rollcall.apart) {
            pass_all(c);
            return;
        }
        if (odd && !complete && !c->rollcall.differs)
            begin_grace(c);
        if (odd && (complete || c->rollcall.late)) {
            end_grace(c);
            differ(c, majority, odd);
            continue;
        }
        if (!complete || odd || stops_hold_all(c))
            return;
        pass_all(c);
    }
}

/* A claim that was told for it by another rank of its host, as all were alike: but then the ranks were to tell it
 * themselves. False: out of memory. */
static bool claim_again(struct coordinator *c, struct process *p, const struct report_claim *report)
{
    struct kept_claim *kept = p->claims;
    while (kept && ((const struct report_claim *)kept->message.is)->round != report->round)
        kept = kept->next;
    if (!kept) {
        processes_send(c, process_number(c, p), json_message(ORDER(passed)));
        return true;
    }
    message_free(&kept->message);
    kept->by = CLAIM_OWN;
    return message_keep(&kept->message, KIND_REPORT, report->said);
}

static bool keep_claim(struct coordinator *c, struct process *p, const struct report_claim *report, enum claim_by by)
{
    if (report->round >= 0 && report->round < p->rounds)
        return by == CLAIM_OWN ? claim_again(c, p, report) : true;
    p->rounds = report->round + 1;
    return process_keep_claim(p, report, by);
}

static bool keep_claim_of_host(struct coordinator *c, struct process *p, const struct report_claim *report)
{
    for (int rank = 0; rank < c->processes.size; rank++) {
        struct process *other = process_of_rank(c, rank);
        if (!strcmp(other->host, p->host) &&
            !keep_claim(c, other, report, other == p ? CLAIM_FOR_HOST : CLAIM_BY_OTHER))
            return false;
    }
    return true;
}

void rollcall_claim(struct coordinator *c, int process, const struct report_claim *report)
{
    struct process *p = process_at(c, process);
    if (!c->config.rollcall)
        return;
    if (report->host ? keep_claim_of_host(c, p, report) : keep_claim(c, p, report, CLAIM_OWN))
        rollcall_check(c);
    else
        fatal_memory(c);
}

void rollcall_breach(struct coordinator *c, int process, const struct report_breach *report)
{
    (void)process;
    complain(c, report->text);
}

static void grace_is_over(void *context)
{
    struct coordinator *c = context;
    c->rollcall.late = true;
    rollcall_check(c);
}

static void rollcall_init(struct coordinator *c)
{
    timer_init(&c->rollcall.grace, grace_is_over, c, &c->limits);
}

/* ---- A process that dumps its memory ------------------------------------------------------------- */

#define DUMP_TIMEOUT 10  /* seconds */
#define HEAR_TIMEOUT 1.5 /* seconds; less than crash.c waits before it goes on by itself */

/* What a process gets is in order: who answers the ping has heard what came before. */
static void tell_others(struct coordinator *c)
{
    for (int p = 1; p < c->processes.count; p++) {
        cJSON *message = json_message(ORDER(abort));
        cJSON_AddBoolToObject(message, "wait", 1);
        processes_send(c, p, message);
        process_at(c, p)->heard = false;
        processes_send(c, p, json_message(ORDER(ping)));
    }
}

static bool others_have_heard(const struct coordinator *c)
{
    for (int p = 1; p < c->processes.count; p++) {
        enum process_state state = process_at(c, p)->state;
        bool there = process_at(c, p)->attached && state != PROCESS_GONE && state != PROCESS_LOST;
        if (there && !process_at(c, p)->heard)
            return false;
    }
    return true;
}

static void let_it_dump(struct coordinator *c)
{
    c->dump.begun = true;
    timers_set(&c->timers, &c->dump.limit, DUMP_TIMEOUT);
    processes_send(c, c->dump.process, json_message(ORDER(dump)));
}

void dump_begin(struct coordinator *c, int process)
{
    c->dump.process = process;
    timers_set(&c->timers, &c->dump.limit, HEAR_TIMEOUT);
    if (process == 0)
        tell_others(c);
    else
        let_it_dump(c);
}

void dump_pong(struct coordinator *c, int process)
{
    process_at(c, process)->heard = true;
}

bool dump_is_on(const struct coordinator *c)
{
    return c->dump.process >= 0;
}

bool dump_is_of(const struct coordinator *c, int process)
{
    return c->dump.process == process;
}

/* Lets it, once all others have heard. */
static void dump_advance(struct coordinator *c)
{
    if (dump_is_on(c) && !c->dump.begun && others_have_heard(c))
        let_it_dump(c);
}

static void dump_timeout(void *context)
{
    struct coordinator *c = context;
    if (c->dump.begun)
        fatal_fault(c, c->dump.process, NULL);
    else
        let_it_dump(c);
}

static void dump_init(struct coordinator *c)
{
    c->dump.process = -1;
    timer_init(&c->dump.limit, dump_timeout, c, NULL);
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

static void debugging_init(struct coordinator *c)
{
    stops_init(c);
    rollcall_init(c);
    dump_init(c);
}

/* The claims of the old one have passed, and its memory the ranks have given back. */
static void debugging_new_world(struct coordinator *c)
{
    c->rollcall.muster.stage = MUSTER_NONE;
    for (int p = 0; p < c->processes.count; p++)
        process_at(c, p)->rounds = 0;
    rollcall_check(c);
}

/* While the ranks are stopped nothing else is decided. */
static bool debugging_advance(struct coordinator *c)
{
    dump_advance(c);
    return !halts_are_on(c);
}

const struct part debugging_part = {.init = debugging_init,
                                    .advance = debugging_advance,
                                    .new_world = debugging_new_world,
                                    .abandoned = stops_abandoned,
                                    .end = halts_end};
