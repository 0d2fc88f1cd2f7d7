/*
 * Roll calls on the coordinator's side. Each process's claims wait in a queue; a round is over when the first in every
 * queue are there and the same. The coordinator never waits for a claim: a rank that stays in a block is no breach.
 */
#include "runtime/coordinator/rollcall.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/base/say.h"
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

static const struct report_claim *claim_of(const struct process *p)
{
    return p->claims ? p->claims->message.is : NULL;
}

/* ---- Blame ------------------------------------------------------------------------- */

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
}

/* ---- Rounds ------------------------------------------------------------------------- */

/* kept: it does not hear of it before stops_release. */
static void pass(struct coordinator *c, struct process *p, bool kept)
{
    process_pass_claim(p);
    stops_note_kept(p, kept);
    if (!kept)
        processes_send(c, process_number(c, p), json_message(ORDER(passed)));
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

void rollcall_claim(struct coordinator *c, int process, const struct report_claim *report)
{
    struct process *p = process_at(c, process);
    if (!c->config.rollcall)
        return;
    if (process_keep_claim(p, report))
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

void rollcall_init(struct coordinator *c)
{
    timer_init(&c->rollcall.grace, grace_is_over, c, &c->limits);
}
