/* Ranks that wait for each other: see stuck.h. */
#include "runtime/coordinator/stuck.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/preconnect.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define PERIOD   0.2 /* seconds between two looks */
#define PATIENCE 1.5 /* seconds; what is on its way between two that wait has arrived by then */
#define LISTED   4   /* ranks */

/* While joining processes are prepared, MPI may be busy with that. */
static bool is_looked_at(const struct coordinator *c)
{
    return c->agreement.state == AGREEMENT_TARGET && !preconnect_goes_on(c) && !adaptation_is(c, ADAPTATION_PREPARING);
}

static bool is_missed(const struct process *p)
{
    return !p->arrived && !p->ended;
}

static int count_missed(const struct coordinator *c)
{
    int missed = 0;
    for (int r = 0; r < c->processes.size; r++)
        missed += is_missed(process_of_rank(c, r));
    return missed;
}

static int count_held(const struct coordinator *c)
{
    int held = 0;
    for (int r = 0; r < c->processes.size; r++)
        held += process_of_rank(c, r)->arrived;
    return held;
}

static bool some_hold_for_others(const struct coordinator *c)
{
    return is_looked_at(c) && count_held(c) && count_missed(c);
}

static bool all_wait(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (is_missed(p) && (p->waiting.round != c->stuck.round || p->waiting.seconds < PATIENCE))
            return false;
    }
    return true;
}

/* ---- What is said ------------------------------------------------------------------------------ */

/* "rank 1 (1040 probes), rank 3 (1041 probes)" */
static void list(const struct coordinator *c, bool missed, char *text, size_t size)
{
    size_t used = 0;
    int listed = 0, all = missed ? count_missed(c) : count_held(c);
    text[0] = 0;
    for (int r = 0; r < c->processes.size && listed < LISTED && used < size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (missed ? !is_missed(p) : !p->arrived)
            continue;
        unsigned long long count = missed ? p->waiting.count : p->count;
        const char *in = missed && p->waiting.function[0] ? p->waiting.function : NULL;
        used += (size_t)snprintf(text + used, size - used, "%srank %d (%llu probes%s%s)", listed++ ? ", " : "", r,
                                 count, in ? ", in " : "", in ? in : "");
    }
    if (listed < all && used < size)
        snprintf(text + used, size - used, " and %d more", all - listed);
}

static void call_off(struct coordinator *c)
{
    char held[200], missed[300], text[700];
    list(c, false, held, sizeof held);
    list(c, true, missed, sizeof missed);
    snprintf(
        text, sizeof text,
        "the ranks do not probe equally often: %s hold%s, and %s wait%s in MPI for that; probe by iterations, which "
        "all ranks make alike, and not by time",
        held, count_held(c) == 1 ? "s" : "", missed, count_missed(c) == 1 ? "s" : "");
    agreement_call_off(c, text);
}

/* ---- Looking ------------------------------------------------------------------------------------- */

static bool is_missed_rank(const struct process *p)
{
    return p->rank >= 0 && is_missed(p);
}

static void ask(struct coordinator *c)
{
    cJSON *message = json_message(ORDER(waits));
    cJSON_AddNumberToObject(message, "round", ++c->stuck.round);
    processes_send_where(c, is_missed_rank, message);
}

static void look(void *context)
{
    struct coordinator *c = context;
    if (!some_hold_for_others(c))
        return;
    if (!all_wait(c)) {
        ask(c);
        timers_set(&c->timers, &c->stuck.look, PERIOD);
    } else if (settle_correct(c)) {
        agreement_again(c);
    } else {
        call_off(c);
    }
}

void stuck_answer(struct coordinator *c, int process, const struct report_waits *report)
{
    struct waiting *w = &process_at(c, process)->waiting;
    w->round = report->round;
    w->seconds = report->seconds;
    w->count = (uint64_t)report->count;
    snprintf(w->function, sizeof w->function, "%s", report->mpi ? report->mpi : "");
}

void stuck_advance(struct coordinator *c)
{
    if (c->stuck.look.set || !some_hold_for_others(c))
        return;
    c->stuck.round++; /* what was answered to another target says nothing */
    timers_set(&c->timers, &c->stuck.look, PERIOD);
}

void stuck_init(struct coordinator *c)
{
    timer_init(&c->stuck.look, look, c, &c->limits);
}
