/* Balances: how uneven the ranks are, and what follows from it. */
#include "runtime/coordinator/balance.h"

#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"

/* Of shorter stretches a rank that lost the processor for a moment would seem to have too much to do. */
#define ITERATIONS 2    /* of each rank, at least */
#define SECONDS    0.25 /* in them, in the mean of all ranks */
#define LOOK       0.1  /* seconds between two looks at them */
#define KEEP       30   /* seconds for which the ranks go on measuring behind the last one */

/* ---- What the ranks have to compute -------------------------------------------------------------- */

/* What they have done so far does not count. */
static void loads_forget(struct balance *b)
{
    b->ranks = 0;
    b->seconds = 0;
}

/* False: out of memory. */
static bool loads_begin(struct balance *b, int pc, int ranks)
{
    if (array_reserve(&b->loads, &b->room, (size_t)ranks, sizeof *b->loads))
        return false;
    for (int r = 0; r < ranks; r++)
        b->loads[r] = (struct balance_load){0};
    b->seconds = 0;
    b->ranks = ranks;
    b->pc = pc;
    return true;
}

/* That in which the ranks were longest. NULL: they have not all ended an iteration of one. */
static const struct measured_element *busiest_of(const struct measured *all, int size)
{
    const struct measured_element *found = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct measured_element *e = &all->elements[i];
        bool counts = e->sums.size == size && e->ranks == size && e->all_iterations;
        if (counts && (!found || e->sums.loop > found->sums.loop))
            found = e;
    }
    return found;
}

/* Loads of another element than before are not comparable. */
static bool loads_add(struct coordinator *c, const struct measured *all)
{
    struct balance *b = &c->balance;
    const struct measured_element *e = busiest_of(all, c->processes.size);
    if (!e)
        return true;
    if ((!b->ranks || e->sums.pc != b->pc) && !loads_begin(b, e->sums.pc, e->ranks))
        return false;
    for (int r = 0; r < e->ranks; r++) {
        b->loads[r].iterations += e->who[r].iterations;
        b->loads[r].seconds += e->who[r].load;
    }
    b->seconds += e->sums.loop;
    return true;
}

static bool loads_suffice(const struct balance *b)
{
    for (int r = 0; r < b->ranks; r++)
        if (b->loads[r].iterations < ITERATIONS)
            return false;
    return b->ranks && b->seconds >= SECONDS * b->ranks;
}

/* Ranks may be an iteration apart. */
static double load_of(const struct balance *b, int rank)
{
    return b->loads[rank].seconds / (double)b->loads[rank].iterations;
}

/* For the plan of an adaptation, with the most over the mean; 0: nothing was computed. NULL: out of memory. */
static int *loads_of_all(const struct balance *b, double *imbalance)
{
    int *loads = calloc((size_t)b->ranks, sizeof *loads);
    double most = 0, sum = 0;
    for (int r = 0; r < b->ranks; r++) {
        most = load_of(b, r) > most ? load_of(b, r) : most;
        sum += load_of(b, r);
    }
    for (int r = 0; loads && r < b->ranks && most > 0; r++)
        loads[r] = (int)(PLAN_LOADS * load_of(b, r) / most);
    *imbalance = sum > 0 ? most * b->ranks / sum : 0;
    return loads;
}

/* ---- Preparing ----------------------------------------------------------------------------------- */

/* NULL: none waits to be prepared. */
static struct adaptation *waiting(const struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    return a && a->balance && !a->loads && a->state == ADAPTATION_PREPARING ? a : NULL;
}

static void look(void *context)
{
    struct coordinator *c = context;
    if (waiting(c))
        measure_look(c, KEEP);
}

static bool all_have_answered(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (!measure_answer_of(c, c->processes.world[r]))
            return false;
    return true;
}

/* A rank that did not answer in time says next time what it has done meanwhile, once it has said from where on. */
static bool take_answers(struct coordinator *c)
{
    struct balance *b = &c->balance;
    struct measured all = {0};
    bool well = !measure_gather(c, &b->told, &all);
    if (well && b->begun)
        well = loads_add(c, &all);
    b->begun |= all_have_answered(c);
    measured_free(&all);
    return well;
}

static void balance_measured(struct coordinator *c)
{
    struct balance *b = &c->balance;
    struct adaptation *a = waiting(c);
    if (!a)
        return;
    if (!take_answers(c))
        fatal_memory(c);
    else if (!loads_suffice(b))
        timers_set(&c->timers, &b->look, LOOK);
    else if (!(a->loads = loads_of_all(b, &a->imbalance)))
        fatal_memory(c);
    else
        adaptation_measured(c);
}

/* ---- Requests ------------------------------------------------------------------------------------ */

static bool can_balance(const struct coordinator *c, struct error *why)
{
    const char *text = c->config.sessions ? "this program has MPI sessions alone, and no data that moves at its size"
                       : c->ways.replaces ? "all ranks are replaced in each adaptation of this job"
                       : c->processes.size == 1 ? "there is one rank alone"
                                                : NULL;
    if (text)
        error_set(why, ERROR_REFUSED, "%s", text);
    return !text && adaptation_may_begin(c, why);
}

/* What was measured before does not count. */
static void begin_to_measure(struct coordinator *c)
{
    c->balance.begun = false;
    loads_forget(&c->balance);
    measure_look(c, KEEP);
}

/* 0, or -1 with the reason. */
static int balance_start(struct coordinator *c, enum requester by, struct error *why)
{
    int size = c->processes.size;
    if (!can_balance(c, why))
        return -1;
    struct adaptation *a = adaptation_new(c, by, size, size);
    if (!a)
        return error_memory(why);
    a->balance = true;
    begin_to_measure(c);
    return adaptation_prepare(c, a, NULL, why);
}

void balance_request(struct coordinator *c, void *handle, const struct request_balance *request)
{
    struct error why = {0};
    if (balance_start(c, BY_EPOPCTL, &why))
        adaptation_refuse(c, handle, why.text);
    else
        adaptation_answer(c, handle, request->wait, false);
}

static void start_for_program(struct coordinator *c)
{
    struct error why = {0};
    if (balance_start(c, BY_PROGRAM, &why))
        publish_event(c, "refused", NULL, why.text);
}

/* As with resizes the first of the ranks counts, what comes out of an earlier world is the same wish, and what comes
 * out of a world that is being made waits. */
void balance_from_program(struct coordinator *c, int process, const struct report_request *report)
{
    const struct adaptation *a = adaptation_pending(c);
    c->balance.deferred |= a && a->state == ADAPTATION_WINDOW && report->world == a->id;
    bool same = a && a->balance && a->by == BY_PROGRAM;
    if (same || report->world != c->processes.world_id || process_at(c, process)->rank < 0)
        return;
    start_for_program(c);
}

/* Processes that left are none of it any more. */
static void balance_new_world(struct coordinator *c)
{
    measure_asker_forget(&c->balance.told);
    if (c->balance.deferred)
        start_for_program(c);
    c->balance.deferred = false;
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

static void balance_init(struct coordinator *c)
{
    timer_init(&c->balance.look, look, c, NULL);
    c->measure.looked = balance_measured;
}

static void balance_destroy(struct coordinator *c)
{
    measure_asker_forget(&c->balance.told);
    free(c->balance.loads);
}

const struct part balance_part = {.init = balance_init, .new_world = balance_new_world, .destroy = balance_destroy};
