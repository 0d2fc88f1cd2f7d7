/*
 * Roll calls on the coordinator's side. Each process's claims wait in a queue; a round is over when the first in every
 * queue are there and the same. The coordinator never waits for a claim: a rank that stays in a block is no breach.
 */
#include "runtime/coordinator/rollcall.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"
#include "runtime/wire/messages.h"

/* When two claims differ, the others have so long to come in, so that the few can be told from the many. */
#define GRACE 0.4

/* ---- Who takes part -------------------------------------------------------------- */

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

static const cJSON *claim_of(const struct process *p)
{
    return p->claims ? p->claims->child : NULL;
}

/* ---- Blame ------------------------------------------------------------------------- */

static bool same_claim(const cJSON *a, const cJSON *b)
{
    struct position x = position_from_json(a), y = position_from_json(b);
    return x.pc == y.pc && x.visit == y.visit && x.iteration == y.iteration &&
           json_true(a, "window") == json_true(b, "window") && !strcmp(json_text(a, "words"), json_text(b, "words"));
}

/* "ranks 0, 2 and 3": those whose claim is like this one. */
static void list_ranks(const struct coordinator *c, const cJSON *claim, char *text, size_t size)
{
    int total = count_participants(c), alike = 0, listed = 0;
    for (int i = 0; i < total; i++)
        alike += claim_of(participant(c, i)) && same_claim(claim_of(participant(c, i)), claim);
    int length = snprintf(text, size, alike == 1 ? "rank" : "ranks");
    for (int i = 0; i < total && (size_t)length < size; i++) {
        const cJSON *other = claim_of(participant(c, i));
        if (!other || !same_claim(other, claim))
            continue;
        const char *before = listed == 0 ? "" : listed == alike - 1 ? " and" : ",";
        listed++;
        length += i < c->processes.size ? snprintf(text + length, size - (size_t)length, "%s %d", before, i)
                                        : snprintf(text + length, size - (size_t)length, "%s (joining) %d", before,
                                                   i - c->processes.size);
    }
}

static int count_alike(const struct coordinator *c, const cJSON *claim)
{
    int alike = 0;
    for (int i = 0; i < count_participants(c); i++)
        alike += claim_of(participant(c, i)) && same_claim(claim_of(participant(c, i)), claim);
    return alike;
}

/* What most ranks say; of as many, what the lowest rank says. */
static const cJSON *find_majority(const struct coordinator *c)
{
    const cJSON *best = NULL;
    for (int i = 0; i < count_participants(c); i++) {
        const cJSON *claim = claim_of(participant(c, i));
        if (claim && (!best || count_alike(c, claim) > count_alike(c, best)))
            best = claim;
    }
    return best;
}

static const cJSON *find_other(const struct coordinator *c, const cJSON *majority)
{
    for (int i = 0; i < count_participants(c); i++) {
        const cJSON *claim = claim_of(participant(c, i));
        if (claim && !same_claim(claim, majority))
            return claim;
    }
    return NULL;
}

static void describe_place(struct coordinator *c, const cJSON *claim, char *text, size_t size)
{
    struct position at = position_from_json(claim);
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
    fprintf(stderr, "epop: warning: %s\n", text);
}

static void differ(struct coordinator *c, const cJSON *majority, const cJSON *odd)
{
    char few[120], many[120], here[140], there[140], place[180] = "", text[900];
    struct position a = position_from_json(odd), b = position_from_json(majority);
    list_ranks(c, odd, few, sizeof few);
    list_ranks(c, majority, many, sizeof many);
    describe_place(c, odd, here, sizeof here);
    describe_place(c, majority, there, sizeof there);
    if (a.pc != b.pc || a.iteration != b.iteration)
        snprintf(place, sizeof place, " (at %s)", there);
    else if (a.visit != b.visit)
        snprintf(place, sizeof place, " (in visit %lld, not %lld)", (long long)b.visit, (long long)a.visit);
    snprintf(text, sizeof text, "%s: %s, %s of %d: %s; but %s%s: %s; it must be the same on every rank",
             c->config.program->name, here, few, count_participants(c), json_text(odd, "words"), many, place,
             json_text(majority, "words"));
    complain(c, text);
    c->rollcall.apart = true; /* and not compared from here on */
}

/* ---- Rounds ------------------------------------------------------------------------- */

/* kept: it does not hear of it before stops_release. */
static void pass(struct coordinator *c, struct process *p, bool kept)
{
    cJSON_Delete(cJSON_DetachItemFromArray(p->claims, 0));
    stops_note_kept(p, kept);
    if (!kept)
        processes_send(c, process_number(c, p), json_message(MESSAGE_PASSED));
}

/* The first claims: is one missing, and are those that are there the same? */
static bool look_round(const struct coordinator *c, const cJSON **odd, const cJSON **majority)
{
    const cJSON *first = NULL;
    bool complete = true;
    *odd = *majority = NULL;
    for (int i = 0; i < count_participants(c); i++) {
        const cJSON *claim = claim_of(participant(c, i));
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
    for (int i = 0; i < total; i++) {
        struct process *p = participant(c, i);
        if (!c->rollcall.apart)
            pass(c, p, stops_keep(c, i));
        while (c->rollcall.apart && claim_of(p))
            pass(c, p, false);
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
    const cJSON *odd, *majority;
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

void rollcall_claim(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = process_at(c, process);
    if (!c->config.rollcall || !json_text(message, "words"))
        return;
    if (!p->claims)
        p->claims = cJSON_CreateArray();
    cJSON_AddItemToArray(p->claims, cJSON_Duplicate(message, 1));
    rollcall_check(c);
}

void rollcall_breach(struct coordinator *c, int process, const cJSON *message)
{
    (void)process;
    complain(c, json_text(message, "text"));
}

static void grace_is_over(void *context)
{
    struct coordinator *c = context;
    c->rollcall.late = true;
    rollcall_check(c);
}

void rollcall_init(struct coordinator *c)
{
    timer_init(&c->rollcall.grace, grace_is_over, c, &c->limits);
}
