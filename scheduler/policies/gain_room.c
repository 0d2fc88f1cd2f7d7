/*
 * Each size that the job could have is weighed: its own delay, that of the jobs which give nodes for it, and what the
 * nodes that all of them hold are worth to those that wait (the round's price). Weighted seconds throughout.
 */
#include "scheduler/policies/gain_room.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/policies/gain_cost.h"
#include "scheduler/policies/gain_round.h"

#define SIZES 12
#define WORTH 0.8
#define ENDS  3 /* so many times what a shrink takes a donor has left, at least */

struct offer {
    int nodes;
    int needed;    /* of others */
    double during; /* seconds that it takes */
    bool past;     /* it may run into the promised start */
    double cost;
    double done; /* seconds until it ends */
};

static bool is_donor(const struct gain_job *job)
{
    return job->movable || (!job->from && gain_job_grows(job->job));
}

/* Before a promised start a donor that ends later than it gives freely: it holds no more nodes then than before. One
 * that ends before may be delayed up to the deadline, for a job that ends before, too. */
static bool may_give(const struct gain_round *round, const struct gain_job *job, int to, bool past)
{
    if (!round->blocked || gain_round_fast(job) > round->shadow)
        return true;
    double cost = job->from ? gain_job_takes(job, round->state, to) : 0;
    return !past && cost + gain_job_seconds(job, to) <= round->deadline;
}

/* Its end gives all nodes, and as soon. */
static bool ends_first(const struct gain_round *round, const struct gain_job *job, const struct offer *offer, int to)
{
    double times = isfinite(offer->during) ? ENDS : 1;
    return job->from && job->work / job->speed <= times * gain_job_takes(job, round->state, to);
}

/* What it loses when it has `to` nodes for so long: seconds, less the node-seconds that it saves. */
static double loss_of(const struct gain_round *round, const struct gain_job *job, int to, double during)
{
    double speed = gain_speedup(&job->model, to), left = job->work / job->speed;
    double slow = during * (1 - speed / job->speed);
    double late = job->work / speed - left;
    double delay = fmin(slow, late);
    double saved =
        slow < late ? during * (job->nodes - to) - job->nodes * delay : job->nodes * left - to * (left + late);
    if (job->from && job->nodes == job->from)
        delay += 2 * gain_job_cost(job, round->state, to);
    return job->weight * delay - round->price * saved;
}

/* The next smaller size of a donor, about a quarter less at most; 0: it has none. */
static int less(const struct gain_job *job, int needed)
{
    int step = job->trial / 4 > 1 ? job->trial / 4 : 1;
    return gain_job_fit(job, job->trial - (step < needed ? step : needed));
}

/* What a donor could give next. */
static struct gain_step step_of(const struct gain_round *round, int index, int needed, const struct offer *offer)
{
    const struct gain_job *job = &round->jobs[index];
    struct gain_step step = {.job = index, .to = less(job, needed), .asked = needed, .price = INFINITY};
    if (step.to <= 0 || !may_give(round, job, step.to, offer->past) || ends_first(round, job, offer, step.to))
        return step;
    step.loss = loss_of(round, job, step.to, offer->during);
    if (job->trial != job->nodes)
        step.loss -= loss_of(round, job, job->trial, offer->during);
    step.price = step.loss / (job->trial - step.to);
    return step;
}

static int list_steps(struct gain_round *round, const struct offer *offer)
{
    int count = 0;
    for (int i = 0; i < round->count; i++) {
        round->jobs[i].trial = round->jobs[i].nodes;
        if (offer->needed > 0 && is_donor(&round->jobs[i]))
            round->steps[count++] = step_of(round, i, offer->needed, offer);
    }
    round->effort -= round->count;
    return count;
}

static struct gain_step *cheapest(const struct gain_round *round, int count)
{
    struct gain_step *best = round->steps;
    for (int i = 1; i < count; i++)
        if (round->steps[i].price < best->price)
            best = &round->steps[i];
    return best;
}

/* Sets the trials so that the nodes are given. What the others lose; infinite: it cannot be. */
static double collect(struct gain_round *round, const struct offer *offer)
{
    double loss = 0;
    int count = list_steps(round, offer), needed = offer->needed;
    while (needed > 0) {
        struct gain_step *step = count ? cheapest(round, count) : NULL;
        if (!step || !isfinite(step->price))
            return INFINITY;
        struct gain_job *job = &round->jobs[step->job];
        if (job->trial - step->to <= needed || step->asked == needed) {
            loss += step->loss;
            needed -= job->trial - step->to;
            job->trial = step->to;
        }
        if (needed > 0)
            *step = step_of(round, step->job, needed, offer);
    }
    return loss;
}

/* Nodes that starts of this plan give up: they are there at once. */
static int spared_now(const struct gain_round *round)
{
    int spared = 0;
    for (int i = round->running; i < round->count; i++)
        if (!round->jobs[i].held)
            spared += round->jobs[i].nodes - round->jobs[i].trial;
    return spared;
}

/* Nodes that nobody has to give: one that runs into a promised start may have what that leaves. */
static int available(const struct gain_round *round, bool past)
{
    int there = round->free + round->coming;
    return past && there > round->extra ? round->extra : there;
}

static double cost_of(const struct gain_round *round, const struct gain_job *job, int nodes, double done)
{
    return job->weight * done + round->price * nodes * gain_job_seconds(job, nodes);
}

/* Until the nodes are there. */
static double wait_for(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (nodes <= round->free + spared_now(round))
        return 0;
    double wait = fmax(job->latency, round->back);
    for (int i = 0; i < round->running; i++)
        if (round->jobs[i].trial < round->jobs[i].nodes)
            wait = fmax(wait, gain_job_takes(&round->jobs[i], round->state, round->jobs[i].trial));
    return wait;
}

/* What it stands still for when it grows later, if that will pay. */
static double later(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (nodes >= job->top || !gain_job_grows(job->job))
        return 0;
    double saves = gain_job_seconds(job, nodes) - gain_job_seconds(job, job->top);
    double cost = gain_cost(job->job, round->state, nodes, job->top);
    return saves >= round->options->factor * cost ? cost : 0;
}

static struct offer weigh(struct gain_round *round, const struct gain_job *job, int nodes)
{
    struct offer offer = {.nodes = nodes, .during = gain_job_seconds(job, nodes)};
    offer.past = round->blocked && job->latency + gain_job_at_most(job, nodes) > round->shadow;
    offer.needed = nodes - available(round, offer.past);
    double loss = collect(round, &offer);
    double stall = later(round, job, nodes);
    offer.done = wait_for(round, job, nodes) + offer.during + stall;
    offer.cost = cost_of(round, job, nodes, offer.done);
    offer.cost += loss > 0 ? round->options->margin * loss : loss;
    return offer;
}

/* When it is done if nobody is resized for it. */
static double without(struct gain_round *round, const struct gain_job *job)
{
    bool grows = gain_job_grows(job->job) || job->job->kind == EPOP_RIGID;
    double wait = grows ? gain_round_when(round, job->top, NULL) : gain_round_soon(round, job->top, NULL);
    if (round->blocked)
        wait = fmax(wait, round->shadow);
    return wait + gain_job_seconds(job, job->top);
}

/* From the wanted size down to the smallest. */
static int sizes_of(const struct gain_job *job, int there, int sizes[SIZES])
{
    int count = 0, wanted = job->top;
    sizes[count++] = wanted;
    if (!gain_job_flexible(job->job))
        return count;
    int all = gain_job_fit(job, there < wanted ? there : wanted);
    if (all > 0 && all < wanted)
        sizes[count++] = all;
    for (int size = gain_job_fit(job, wanted * 3 / 4); size > 0 && count < SIZES;
         size = gain_job_fit(job, size * 2 / 3))
        sizes[count++] = size;
    return count;
}

/* From so many nodes; not if all that it could have is one size far above. */
static bool can_grow(const struct gain_job *job, int nodes)
{
    int next = gain_job_above(job, nodes);
    return gain_job_grows(job->job) && next > 0 && (next < job->top || job->top <= 2 * nodes);
}

/* A job that cannot grow waits, unless it is done earlier with fewer nodes. */
static bool is_possible(const struct gain_job *job, const struct offer *offer, double done)
{
    return offer->nodes == job->top || can_grow(job, offer->nodes) || offer->done <= WORTH * done;
}

/* The cheapest one. */
static struct offer best_offer(struct gain_round *round, const struct gain_job *job, double done)
{
    int sizes[SIZES], count = sizes_of(job, round->free, sizes);
    struct offer best = {.cost = INFINITY};
    for (int i = 0; i < count; i++) {
        struct offer offer = weigh(round, job, sizes[i]);
        if (is_possible(job, &offer, done) && offer.cost < best.cost)
            best = offer;
    }
    return best;
}

static void tell(const struct gain_round *round, struct gain_job *donor, const char *why)
{
    snprintf(donor->reason, GAIN_REASON, "%d -> %d: %s; %.2f times as fast, costs %.2f s of %.0f s left", donor->from,
             donor->trial, why, gain_speedup(&donor->model, donor->trial) / gain_speedup(&donor->model, donor->from),
             gain_job_cost(donor, round->state, donor->trial), gain_job_left(donor->job));
}

static void take(struct gain_round *round, const char *why, int *now, int *later)
{
    for (int i = 0; i < round->count; i++) {
        struct gain_job *donor = &round->jobs[i];
        int given = donor->nodes - donor->trial;
        if (given <= 0)
            continue;
        *(donor->from || donor->held ? later : now) += given;
        round->extra += round->blocked && gain_round_fast(donor) > round->shadow ? given : 0;
        if (donor->from)
            tell(round, donor, why);
        gain_job_set(donor, donor->trial);
    }
}

static bool settle(struct gain_round *round, struct gain_job *job, const struct offer *offer)
{
    int now = round->free, later = round->coming;
    collect(round, offer);
    char why[64];
    snprintf(why, sizeof why, "makes room for job %lld", (long long)job->job->id);
    take(round, why, &now, &later);
    struct gain_job *made = gain_round_start(round, job, offer->nodes);
    if (!made)
        return false;
    made->held = offer->nodes > now;
    round->free = made->held ? 0 : now - offer->nodes;
    round->coming = made->held ? now + later - offer->nodes : later;
    if (offer->past)
        round->extra -= offer->nodes;
    made->why = round->blocked ? "room behind the first of the queue" : "its turn";
    return true;
}

bool gain_room_make(struct gain_round *round, struct gain_job *job)
{
    if (round->effort <= 0)
        return false;
    double done = without(round, job);
    struct offer best = best_offer(round, job, done);
    if (!isfinite(best.cost) || best.cost > cost_of(round, job, job->top, done))
        return false;
    return settle(round, job, &best);
}

bool gain_room_free(struct gain_round *round, int nodes, double worth, bool some, const char *why)
{
    struct offer offer = {.needed = nodes, .during = INFINITY};
    int given = 0;
    double loss = collect(round, &offer);
    bool all = isfinite(loss) && loss <= worth;
    if (!all && !some)
        return false;
    take(round, why, &given, &given);
    round->coming += given > nodes ? given - nodes : 0;
    return all;
}
