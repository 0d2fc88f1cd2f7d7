/*
 * Strategies that others have published, to compare with. All start jobs first come, first served with EASY
 * backfilling, then shrink running malleable jobs for those that wait still, then give idle nodes to running ones. They
 * know sizes alone: not what a node brings, nor what a resize costs.
 *
 * `min`, `pref`, `average`: J. Posner, F. Hupfeld and P. Finnerty, "Enhancing supercomputer performance with malleable
 * job scheduling strategies", PECS 2023. `keeppref`: P. Zojer, J. Posner and T. Oezden, "Evaluating malleable job
 * scheduling in HPC clusters using real-world workloads", arXiv 2602.17318. `dmr`: S. Iserte et al., "DMR API:
 * improving cluster productivity by turning applications into malleable", Parallel Computing 78, 2018.
 * docs/reference/policies.md has how they are read here.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/sizes.h"

/* ---- The strategies ----------------------------------------------------------------------------- */

struct strategy {
    bool preferred; /* jobs start with what they prefer, or else what is idle; else with their least size */
    bool keeps;     /* none is made smaller than it prefers */
    bool evens;     /* who gives, and who gets, is brought to the same share of its range; else one after the other */
    bool alone;     /* a job gives nodes only if these are enough, and more than it prefers only if nobody waits */
};

static const struct strategy min_strategy, pref_strategy = {.preferred = true}, average_strategy = {.evens = true},
                                           keeppref_strategy = {.preferred = true, .keeps = true},
                                           dmr_strategy = {.preferred = true, .alone = true};

/* ---- The working set of one decision ------------------------------------------------------------ */

struct piece {
    const epop_policy_job_t *job;
    const epop_policy_range_t *ranges[2]; /* its own, and that of its present phase */
    int range_count;
    int least, preferred, most;
    int nodes;                          /* in the plan */
    int trial;                          /* what is being looked at */
    int surplus;                        /* above its least size, or what it prefers, as last sorted */
    const epop_policy_job_t *given_for; /* that it made room for first; NULL: none */
    bool movable;
    bool served; /* one that waits: it starts, or nodes that come are held for it */
};

struct round {
    const struct strategy *strategy;
    const epop_policy_state_t *state;
    epop_plan_t *plan;
    struct piece *running, *waiting, **order; /* the last for what is sorted */
    int free, coming;                         /* nodes that nobody has yet */
    int started; /* that start in this plan: the first of `order`, until others are sorted there */
    const struct piece *head;
    double shadow; /* when the head can start */
    int extra;     /* nodes that it leaves then */
};

static int fit(const struct piece *piece, int nodes)
{
    return sizes_fit(piece->ranges, piece->range_count, nodes);
}

static bool resizes(const epop_policy_job_t *job)
{
    return job->kind == EPOP_MALLEABLE;
}

static bool may_be_resized(const epop_policy_job_t *job)
{
    return job->state == EPOP_POLICY_RUNS && (job->phase_count < 1 || job->phases[0].elastic);
}

/* A phase at the start that accepts none of the job's sizes does not keep it from starting. */
static struct piece piece_of(const epop_policy_job_t *job)
{
    struct piece piece = {.job = job, .nodes = job->target, .ranges = {&job->range}, .range_count = 1};
    if (job->phase_count > 0)
        piece.ranges[piece.range_count++] = &job->phases[0].range;
    if (!sizes_from(piece.ranges, piece.range_count, 1))
        piece.range_count = 1;
    piece.movable = resizes(job) && may_be_resized(job);
    piece.least = resizes(job) ? sizes_from(piece.ranges, piece.range_count, 1) : job->wanted;
    piece.most = resizes(job) ? fit(&piece, job->range.max) : job->wanted;
    int preferred = resizes(job) ? fit(&piece, job->wanted) : job->wanted;
    piece.preferred = preferred > 0 ? preferred : piece.least;
    return piece;
}

static int begin_round(struct round *round, const struct strategy *strategy, const epop_policy_state_t *state,
                       epop_plan_t *plan)
{
    *round = (struct round){.strategy = strategy, .state = state, .plan = plan, .free = state->idle};
    round->coming = state->coming;
    round->running = calloc((size_t)state->running_count + 1, sizeof *round->running);
    round->waiting = calloc((size_t)state->waiting_count + 1, sizeof *round->waiting);
    round->order = calloc((size_t)state->running_count + (size_t)state->waiting_count + 1, sizeof(struct piece *));
    if (!round->running || !round->waiting || !round->order)
        return -1;
    for (int i = 0; i < state->running_count; i++)
        round->running[i] = piece_of(state->running[i]);
    for (int i = 0; i < state->waiting_count; i++)
        round->waiting[i] = piece_of(state->waiting[i]);
    return 0;
}

static void end_round(struct round *round)
{
    free(round->running);
    free(round->waiting);
    free(round->order);
}

/* What programs ask for comes first, as far as nodes are idle. */
static void serve_wishes(struct round *round)
{
    for (int i = 0; i < round->state->running_count; i++) {
        struct piece *piece = &round->running[i];
        const epop_policy_job_t *job = piece->job;
        if (job->kind != EPOP_EVOLVING || job->asked <= 0 || !may_be_resized(job))
            continue;
        int to = fit(piece, job->asked);
        if (to <= 0 || to - piece->nodes > round->free)
            continue;
        round->free -= to > piece->nodes ? to - piece->nodes : 0;
        piece->nodes = to;
    }
}

/* ---- Starts ------------------------------------------------------------------------------------- */

struct release {
    double time;
    int nodes;
};

static int by_time(const void *one, const void *other)
{
    const struct release *a = one, *b = other;
    return (a->time > b->time) - (a->time < b->time);
}

/* Seconds that it takes at most, at so many nodes. */
static double seconds_at(const epop_policy_job_t *job, int nodes)
{
    return job->left * job->wanted / nodes;
}

/* Where jobs that run, or start now, end by their limits. What an adapting one gives back is among what comes. */
static void find_shadow(struct round *round, const struct piece *head)
{
    int count = 0, i = 0, running = round->state->running_count, there = round->free + round->coming;
    struct release *releases = calloc((size_t)(running + round->started) + 1, sizeof *releases);
    round->head = head;
    round->shadow = INFINITY;
    for (int k = 0; releases && k < running; k++)
        releases[count++] = (struct release){round->running[k].job->left, round->running[k].nodes};
    for (int k = 0; releases && k < round->started; k++)
        releases[count++] =
            (struct release){seconds_at(round->order[k]->job, round->order[k]->nodes), round->order[k]->nodes};
    if (releases)
        qsort(releases, (size_t)count, sizeof *releases, by_time);
    double time = 0;
    while (i < count && (there < head->least || releases[i].time <= time))
        time = releases[i].time, there += releases[i++].nodes;
    if (there >= head->least)
        round->shadow = time, round->extra = there - head->least;
    free(releases);
}

/* What it would start with now; 0: it does not fit. */
static int start_size(const struct round *round, const struct piece *piece, int there)
{
    int most = round->strategy->preferred ? piece->preferred : piece->least;
    return resizes(piece->job) ? fit(piece, most < there ? most : there) : piece->least <= there ? piece->least : 0;
}

/* Who was promised nodes that others give back has them when they are there, whatever the head's time is by then. */
static bool delays_head(const struct round *round, const struct piece *piece, int nodes)
{
    return round->head && piece->job->reserved < 0 && seconds_at(piece->job, nodes) > round->shadow &&
           nodes > round->extra;
}

/* It has these nodes from now on, or soon. */
static void serve(struct round *round, struct piece *piece, int nodes)
{
    if (round->head && piece != round->head && seconds_at(piece->job, nodes) > round->shadow)
        round->extra -= nodes;
    piece->served = true;
}

static void start(struct round *round, struct piece *piece, int nodes)
{
    epop_plan_start(round->plan, piece->job, nodes, "starts with %d of %d nodes, %s: %d idle", nodes,
                    piece->job->wanted, round->head ? "backfilled" : "its turn", round->free);
    round->free -= nodes;
    piece->nodes = nodes;
    serve(round, piece, nodes);
    round->order[round->started++] = piece;
}

/* Of nodes that come, and of idle ones beside them. */
static void hold(struct round *round, struct piece *piece, int nodes)
{
    int later = nodes < round->coming ? nodes : round->coming;
    round->coming -= later;
    round->free -= nodes - later;
    serve(round, piece, nodes);
}

/* Nodes that come are whose turn it is, whoever they were given for ("steal agreement", and beside idle ones "common
 * pool"): so nothing has to be remembered of it. */
static void serve_queue(struct round *round)
{
    int up = round->state->node_count - round->state->down;
    for (int i = 0; i < round->state->waiting_count; i++) {
        struct piece *piece = &round->waiting[i];
        int nodes = start_size(round, piece, round->free);
        int later =
            round->coming > 0 && piece->least > round->free ? start_size(round, piece, round->free + round->coming) : 0;
        if (piece->least > up)
            piece->served = true; /* it lets the others pass */
        else if (nodes > 0 && !delays_head(round, piece, nodes))
            start(round, piece, nodes);
        else if (later > 0 && !delays_head(round, piece, later))
            hold(round, piece, later);
        else if (!round->head)
            find_shadow(round, piece);
        if (round->free + round->coming <= 0 && round->head)
            break;
    }
    if (round->head && isfinite(round->shadow))
        epop_plan_reserve(round->plan, round->head->job, round->head->least, round->state->now + round->shadow,
                          "first in the queue: %d nodes are free in %.0f s", round->head->least, round->shadow);
}

/* ---- Room for jobs that wait -------------------------------------------------------------------- */

static int floor_of(const struct piece *piece, bool keep)
{
    int least = keep && piece->preferred > piece->least ? piece->preferred : piece->least;
    return least < piece->nodes ? least : piece->nodes;
}

static int most_given(const struct round *round, bool keep)
{
    int most = 0;
    for (int i = 0; i < round->state->running_count; i++)
        if (round->running[i].movable)
            most += round->running[i].nodes - floor_of(&round->running[i], keep);
    return most;
}

static int by_surplus(const void *one, const void *other)
{
    const struct piece *a = *(struct piece *const *)one, *b = *(struct piece *const *)other;
    int order = (a->surplus < b->surplus) - (a->surplus > b->surplus);
    return order ? order : (a > b) - (a < b);
}

/* Those that may be resized, who has most too many first; their number. */
static int sort_movable(struct round *round)
{
    int count = 0;
    for (int i = 0; i < round->state->running_count; i++) {
        struct piece *piece = &round->running[i];
        if (!piece->movable)
            continue;
        piece->surplus = piece->nodes - (round->strategy->preferred ? piece->preferred : piece->least);
        round->order[count++] = piece;
    }
    qsort(round->order, (size_t)count, sizeof(struct piece *), by_surplus);
    return count;
}

/* At least `nodes` fewer, or `least` if there is no such size above it. */
static int smaller(const struct piece *piece, int nodes, int least)
{
    int to = fit(piece, piece->nodes - nodes);
    return to >= least && to > 0 ? to : least;
}

/* One after the other, or one that can alone. Nodes given. */
static int give_in_turn(struct round *round, int count, int needed, bool keep)
{
    int given = 0;
    for (int i = 0; i < count && given < needed; i++) {
        struct piece *piece = round->order[i];
        int least = floor_of(piece, keep), most = piece->nodes - least;
        if (most <= 0 || (round->strategy->alone && most < needed))
            continue;
        piece->trial = smaller(piece, needed - given < most ? needed - given : most, least);
        given += piece->nodes - piece->trial;
    }
    return given;
}

static int size_at_level(const struct piece *piece, double level)
{
    int nodes = fit(piece, piece->least + (int)floor(level * (piece->most - piece->least) + 1e-9));
    return nodes > piece->least ? nodes : piece->least;
}

/* Sets the trials to that level of those that lie above it, or below it. Nodes that change hands. */
static int move_to_level(struct round *round, int count, double level, bool down)
{
    int moved = 0;
    for (int i = 0; i < count; i++) {
        struct piece *piece = round->order[i];
        int to = size_at_level(piece, level);
        piece->trial = (down ? to < piece->nodes : to > piece->nodes) ? to : piece->nodes;
        moved += abs(piece->nodes - piece->trial);
    }
    return moved;
}

/* The highest level at which those above it give so many nodes, or those below it take no more. */
static double level_for(struct round *round, int count, int nodes, bool down)
{
    double low = 0, high = 1;
    for (int i = 0; i < 30; i++) {
        double level = (low + high) / 2;
        int moved = move_to_level(round, count, level, down);
        if (down ? moved >= nodes : moved <= nodes)
            low = level;
        else
            high = level;
    }
    return low;
}

/* All that have a larger share of their range go down to the same share. Nodes given. */
static int give_evenly(struct round *round, int count, int needed)
{
    int given = move_to_level(round, count, level_for(round, count, needed, true), true);
    for (int i = 0; i < count && given > needed; i++) { /* what sizes between two levels give too much */
        struct piece *piece = round->order[i];
        int to = fit(piece, piece->trial + given - needed);
        to = to < piece->nodes ? to : piece->nodes;
        if (to > piece->trial)
            given -= to - piece->trial, piece->trial = to;
    }
    return given;
}

/* By the site's rule for what was never measured; and a second for the processes. */
static double seconds_to_give(const struct round *round, int nodes)
{
    return 1 + round->state->resize_base + round->state->resize_per_node * nodes;
}

/* Running jobs give back what the job lacks; else nobody does. */
static bool make_room(struct round *round, struct piece *job, int nodes, bool keep)
{
    int needed = nodes - round->free - round->coming, count;
    if (job != round->head && delays_head(round, job, nodes))
        return false;
    count = sort_movable(round);
    for (int i = 0; i < count; i++)
        round->order[i]->trial = round->order[i]->nodes;
    int given = round->strategy->evens ? give_evenly(round, count, needed) : give_in_turn(round, count, needed, keep);
    if (given < needed)
        return false;
    for (int i = 0; i < count; i++) {
        struct piece *donor = round->order[i];
        if (donor->trial < donor->nodes && !donor->given_for)
            donor->given_for = job->job;
        donor->nodes = donor->trial;
    }
    round->free = 0;
    round->coming = given - needed;
    serve(round, job, nodes);
    if (job != round->head)
        epop_plan_reserve(round->plan, job->job, nodes, round->state->now + seconds_to_give(round, nodes),
                          "%d nodes are given back for it", needed);
    return true;
}

/* What it prefers if others keep what they prefer; else its least size, for which they may have to give more. */
static void serve_one(struct round *round, struct piece *job, int kept, int all)
{
    bool preferred = round->strategy->preferred, keeps = round->strategy->keeps;
    int there = round->free + round->coming;
    if (preferred && job->preferred <= there + kept && make_room(round, job, job->preferred, true))
        return;
    if (preferred && job->least <= there + kept && make_room(round, job, job->least, true))
        return;
    if (!keeps && job->least <= there + all)
        make_room(round, job, job->least, false);
}

static void make_rooms(struct round *round)
{
    int kept = most_given(round, true), all = most_given(round, false);
    for (int i = 0; i < round->state->waiting_count && all > 0; i++) {
        struct piece *job = &round->waiting[i];
        if (job->served)
            continue;
        serve_one(round, job, kept, all);
        if (job->served)
            kept = most_given(round, true), all = most_given(round, false);
    }
}

/* ---- Idle nodes --------------------------------------------------------------------------------- */

/* Who gave nodes in this plan gets none. */
static bool may_grow(const struct piece *piece)
{
    return piece->movable && !piece->given_for;
}

/* The one that has least first. */
static void grow_in_turn(struct round *round, bool preferred)
{
    for (int i = sort_movable(round) - 1; i >= 0 && round->free > 0; i--) {
        struct piece *piece = round->order[i];
        int most = preferred ? piece->preferred : piece->most, there = piece->nodes + round->free;
        int to = fit(piece, most < there ? most : there);
        if (!may_grow(piece) || to <= piece->nodes)
            continue;
        round->free -= to - piece->nodes;
        piece->nodes = to;
    }
}

static void grow_evenly(struct round *round)
{
    int count = 0;
    for (int i = 0; i < round->state->running_count; i++)
        if (may_grow(&round->running[i]))
            round->order[count++] = &round->running[i];
    bool all = move_to_level(round, count, 1, false) <= round->free;
    round->free -= move_to_level(round, count, all ? 1 : level_for(round, count, round->free, false), false);
    for (int i = 0; i < count; i++) {
        struct piece *piece = round->order[i];
        int there = piece->trial + round->free, to = fit(piece, piece->most < there ? piece->most : there);
        if (to > piece->trial)
            round->free -= to - piece->trial, piece->trial = to;
        piece->nodes = piece->trial;
    }
}

static void grow_jobs(struct round *round)
{
    if (round->free <= 0)
        return;
    if (round->strategy->evens) {
        grow_evenly(round);
        return;
    }
    if (round->strategy->preferred)
        grow_in_turn(round, true);
    if (!round->strategy->alone || !round->state->waiting_count)
        grow_in_turn(round, false);
}

/* ---- The plan ----------------------------------------------------------------------------------- */

static void write_resize(const struct round *round, const struct piece *piece)
{
    const epop_policy_job_t *job = piece->job;
    if (piece->nodes == job->target)
        return;
    if (job->kind == EPOP_EVOLVING)
        epop_plan_resize(round->plan, job, piece->nodes, "%d -> %d: the program asks for %d", job->nodes, piece->nodes,
                         job->asked);
    else if (piece->given_for)
        epop_plan_resize(round->plan, job, piece->nodes, "%d -> %d: makes room for job %lld", job->nodes, piece->nodes,
                         (long long)piece->given_for->id);
    else
        epop_plan_resize(round->plan, job, piece->nodes, "%d -> %d: of %d idle nodes, wants %d, at most %d", job->nodes,
                         piece->nodes, round->state->idle, piece->preferred, piece->most);
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct round round;
    if (!begin_round(&round, settings, state, plan)) {
        serve_wishes(&round);
        serve_queue(&round);
        make_rooms(&round);
        grow_jobs(&round);
        for (int i = 0; i < state->running_count; i++)
            write_resize(&round, &round.running[i]);
    }
    end_round(&round);
}

/* ---- The policies ------------------------------------------------------------------------------- */

/* Settings are the strategy, which is nobody's to free. */
#define PUBLISHED(NAME, SUMMARY)                                                                                       \
    static int open_##NAME(void **settings)                                                                            \
    {                                                                                                                  \
        *settings = (void *)&NAME##_strategy;                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    const epop_policy_t policy_##NAME = {.abi_version = EPOP_POLICY_ABI_VERSION,                                       \
                                         .struct_size = sizeof policy_##NAME,                                          \
                                         .name = #NAME,                                                                \
                                         .summary = SUMMARY,                                                           \
                                         .open = open_##NAME,                                                          \
                                         .decide = decide}

PUBLISHED(min, "published: jobs start with their least size, then get what is idle, one after the other");
PUBLISHED(pref, "published: jobs start with, and get first, the nodes that their users asked for");
PUBLISHED(average, "published: as min, but all get the same share of their range");
PUBLISHED(keeppref, "published: as pref, and none is made smaller than that");
PUBLISHED(dmr, "published: as pref, and a job gives nodes only if another can start by these alone");
