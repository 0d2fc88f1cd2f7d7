/* Balances: how uneven the ranks are, and what follows from it. */
#include "runtime/coordinator/balance.h"

#include <math.h>
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
#define LOOK       0.1  /* seconds to the first look at them */
#define LONGER     1.25 /* times that to the next one, as long as they do not suffice */
#define WATCH      1    /* seconds at most, and while all is well */
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
        b->loads[r].iterations = 0, b->loads[r].seconds = 0;
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

/* Of the loads of all. */
struct extent {
    double most, mean;
};

static struct extent extent_of(const struct balance *b)
{
    struct extent is = {0};
    for (int r = 0; r < b->ranks; r++) {
        is.most = load_of(b, r) > is.most ? load_of(b, r) : is.most;
        is.mean += load_of(b, r) / b->ranks;
    }
    return is;
}

/* 0: nothing was computed. */
static double imbalance_of(const struct balance *b)
{
    const struct extent is = extent_of(b);
    return is.mean > 0 ? is.most / is.mean : 0;
}

/* Without the memory for it they are NULL. */
static void take_loads(struct adaptation *a, const struct balance *b)
{
    double most = extent_of(b).most;
    a->imbalance = imbalance_of(b);
    a->loads = calloc((size_t)a->from, sizeof *a->loads);
    for (int r = 0; a->loads && r < b->ranks && most > 0; r++)
        a->loads[r] = (int)(PLAN_LOADS * load_of(b, r) / most);
}

/* ---- Beginning ----------------------------------------------------------------------------------- */

/* As one without elastic calls does. */
static bool takes_one_size_alone(const struct coordinator *c)
{
    const epop_sizes_t *sizes = &c->config.program->sizes;
    return c->config.executable && sizes->min == c->processes.size && sizes->max == sizes->min;
}

/* Why none ever will; NULL: it may. */
static const char *never_balances(const struct coordinator *c)
{
    return c->config.sessions        ? "this program has MPI sessions alone, which adapt at another size"
           : takes_one_size_alone(c) ? "this executable takes its number of ranks alone: it never adapts"
           : c->ways.replaces        ? "all ranks are replaced in each adaptation of this job"
                                     : NULL;
}

bool balance_can_help(const struct coordinator *c)
{
    bool somebody = c->balance.divides || c->balance.wanted || c->config.balance > 0;
    return somebody && !never_balances(c);
}

static bool can_balance(const struct coordinator *c, struct error *why)
{
    const char *text = never_balances(c);
    if (!text && c->processes.size == 1)
        text = "there is one rank alone";
    if (text)
        error_set(why, ERROR_REFUSED, "%s", text);
    return !text && adaptation_may_begin(c, why);
}

/* What was measured before does not count. */
static void begin_to_measure(struct coordinator *c)
{
    c->balance.begun = false;
    c->balance.pause = LOOK;
    loads_forget(&c->balance);
    measure_look(c, KEEP);
}

/* 0, or -1 with the reason. */
static int balance_start(struct coordinator *c, enum requester by, struct error *why)
{
    int size = c->processes.size;
    c->balance.wanted = true;
    if (!can_balance(c, why))
        return -1;
    struct adaptation *a = adaptation_new(c, by, size, size);
    if (!a)
        return error_memory(why);
    a->balance = true;
    if (by == BY_OPTION) /* that is why */
        take_loads(a, &c->balance);
    else
        begin_to_measure(c);
    return adaptation_prepare(c, a, NULL, why);
}

/* ---- Preparing ----------------------------------------------------------------------------------- */

/* NULL: none waits to be prepared. */
static struct adaptation *waiting(const struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    return a && a->balance && !a->loads && a->state == ADAPTATION_PREPARING ? a : NULL;
}

/* Does the job balance itself? */
static bool watches(const struct coordinator *c)
{
    return c->config.balance > 0 && !c->config.sessions && !c->ways.replaces && !c->ending.finished;
}

static void look(void *context)
{
    struct coordinator *c = context;
    if (waiting(c) || watches(c))
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

/* ---- The job balances itself --------------------------------------------------------------------- */

#define TIMES   3         /* in a row that it has to be too uneven */
#define HELPED  (2 / 3.0) /* of what the imbalance was above 1: a balance that leaves more has not helped */
#define TRIES   2         /* in a row that have not: where costs jump inside a block the second one knows better */
#define ANOTHER 0.5       /* of what they left above 1: if a load changes by more it is tried again */

static void give_up(struct balance *b, double mean)
{
    b->given_up = true;
    for (int r = 0; r < b->ranks; r++)
        b->loads[r].left = load_of(b, r) / mean;
}

/* Not those loads any more that it gave up at? */
static bool is_another_case(const struct balance *b, double mean)
{
    double most = 1, change = 0;
    for (int r = 0; r < b->ranks; r++) {
        most = fmax(most, b->loads[r].left);
        change = fmax(change, fabs(load_of(b, r) / mean - b->loads[r].left));
    }
    return change > ANOTHER * (most - 1);
}

/* What came of the last balance, and is there any use in another one? */
static void judge(struct balance *b, double imbalance, double even)
{
    const double mean = extent_of(b).mean;
    if (b->was > 0)
        b->useless = imbalance - 1 > HELPED * (b->was - 1) ? b->useless + 1 : 0;
    if (imbalance <= even)
        b->useless = 0;
    if (imbalance <= even || (b->given_up && is_another_case(b, mean)))
        b->given_up = false;
    if (b->was > 0 && b->useless >= TRIES)
        give_up(b, mean);
    b->was = 0;
}

static void consider(struct coordinator *c)
{
    struct balance *b = &c->balance;
    struct error why;
    const struct extent is = extent_of(b);
    double imbalance = imbalance_of(b), waited = (is.most - is.mean) * (double)b->loads[0].iterations;
    judge(b, imbalance, c->config.balance);
    bool uneven = imbalance > c->config.balance && !b->given_up;
    b->lost = uneven ? b->lost + waited : 0;
    b->uneven = uneven ? b->uneven + 1 : 0;
    if (b->uneven < TIMES || b->lost <= b->cost || !can_balance(c, &why))
        return;
    b->uneven = 0;
    b->lost = 0;
    balance_start(c, BY_OPTION, &why);
}

/* ---- Answers and requests ----------------------------------------------------------------------- */

static void prepare(struct coordinator *c, struct adaptation *a)
{
    take_loads(a, &c->balance);
    if (a->loads)
        adaptation_measured(c);
    else
        fatal_memory(c);
}

static void look_again(struct coordinator *c, bool sufficed)
{
    struct balance *b = &c->balance;
    bool hurries = waiting(c) || b->uneven || b->was > 0;
    b->pause = !hurries ? WATCH : sufficed ? LOOK : fmin(LONGER * b->pause, WATCH);
    timers_set(&c->timers, &b->look, b->pause);
}

static void balance_measured(struct coordinator *c)
{
    struct balance *b = &c->balance;
    struct adaptation *a = waiting(c);
    if (!a && !watches(c))
        return;
    if (!take_answers(c)) {
        fatal_memory(c);
        return;
    }
    bool suffice = loads_suffice(b);
    if (suffice && a)
        prepare(c, a);
    else if (suffice)
        consider(c);
    if (suffice)
        loads_forget(b);
    look_again(c, suffice);
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

/* After a resize all is another world; of a balance it is to be seen what came of it. */
static void balance_new_world(struct coordinator *c)
{
    struct balance *b = &c->balance;
    const struct adaptation *last = &c->adaptations.history[c->adaptations.count % ADAPTATION_HISTORY];
    measure_asker_forget(&b->told); /* processes that left are none of it any more */
    b->begun = false;
    loads_forget(b);
    b->uneven = 0;
    b->lost = 0;
    b->was = last->balance ? last->imbalance : 0;
    b->cost = last->balance ? last->stall : b->cost;
    b->given_up = b->given_up && last->balance;
    b->useless = last->balance ? b->useless : 0;
    b->pause = LOOK;
    if (b->was > 0 && watches(c))
        timers_set(&c->timers, &b->look, b->pause);
    if (b->deferred)
        start_for_program(c);
    b->deferred = false;
}

/* ---- As a part of the coordinator ---------------------------------------------------------------- */

static void balance_init(struct coordinator *c)
{
    timer_init(&c->balance.look, look, c, NULL);
    c->measure.looked = balance_measured;
    if (watches(c))
        timers_set(&c->timers, &c->balance.look, WATCH);
}

static void balance_destroy(struct coordinator *c)
{
    measure_asker_forget(&c->balance.told);
    free(c->balance.loads);
}

const struct part balance_part = {.init = balance_init, .new_world = balance_new_world, .destroy = balance_destroy};
