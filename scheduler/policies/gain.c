/*
 * The policy `gain`: a node goes where it brings most. Jobs that wait come first, and running ones make room for them
 * where that costs less than it saves; idle nodes make running jobs larger where that pays for the resize.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/gain_queue.h"
#include "scheduler/policies/policies.h"

/* ---- Options ------------------------------------------------------------------------------------ */

static const epop_policy_option_t option_list[] = {
    {"factor", "2", "a job grows when that saves this many times what it costs"},
    {"margin", "1.1", "others shrink for a start when that saves this many times what they lose"},
    {"stay", "10", "seconds that a job is left at a size, at least"},
    {"stay-costs", "5", "and this many times what a resize costs it"},
    {"slack", "0.1", "share of the promised wait by which shrinking jobs may delay the first of the queue"},
    {"ahead", "5", "seconds before a phase in which nodes are given back for it"},
    {"efficiency", "0.7", "taken at the nodes that were asked for, where nothing was measured"},
    {"marginal", "0.05", "speedup that each further node of a growth has to bring"},
    {"fairness", "0.25", "how much the nodes that a user holds count against its jobs, from 0 to 1"},
    {"firm", "1", "1: starts are held against those of EASY backfilling, which are promised; 0: they are not"},
    {"keep", "0.5", "share of what EASY backfilling leaves idle that is kept for jobs that come"},
    {"gather", "1", "1: jobs that are spread over switches are moved together where that pays; 0: they are not"},
    {NULL, NULL, NULL},
};

/* As the list: where each stands, and its limits. */
static const struct {
    size_t at;
    double min, max;
} slots[] = {
    {offsetof(struct gain_options, factor), 1, 1e6},      {offsetof(struct gain_options, margin), 1, 1e6},
    {offsetof(struct gain_options, stay), 1, 1e9},        {offsetof(struct gain_options, stay_costs), 0, 1e6},
    {offsetof(struct gain_options, slack), 0, 10},        {offsetof(struct gain_options, ahead), 0, 1e9},
    {offsetof(struct gain_options, efficiency), 0.01, 1}, {offsetof(struct gain_options, marginal), 0, 1},
    {offsetof(struct gain_options, fairness), 0, 1},      {offsetof(struct gain_options, firm), 0, 1},
    {offsetof(struct gain_options, keep), 0, 1},          {offsetof(struct gain_options, gather), 0, 1},
};

/* Policies' `option`. */
static int gain_set_option(void *settings, const char *name, const char *value)
{
    for (size_t i = 0; option_list[i].name; i++) {
        if (strcmp(option_list[i].name, name))
            continue;
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end || value[strspn(value, "0123456789.eE+-")] || !isfinite(number) ||
            number < slots[i].min || number > slots[i].max)
            return -1;
        *(double *)((char *)settings + slots[i].at) = number;
        return 0;
    }
    return -1;
}

static int gain_open(void **settings)
{
    struct gain_options *options = calloc(1, sizeof *options);
    if (!options)
        return -1;
    options->fits = calloc(GAIN_FITS, sizeof *options->fits);
    for (size_t i = 0; option_list[i].name; i++)
        gain_set_option(options, option_list[i].name, option_list[i].value);
    *settings = options;
    return 0;
}

static void gain_close(void *settings)
{
    free(((struct gain_options *)settings)->fits);
    free(settings);
}

/* ---- What comes before all else ----------------------------------------------------------------- */

/*
 * The power cap, phases that are near, and sizes that programs ask for. Resizes for these do not wait until a job has
 * been at its size for long enough.
 */
#define ENDS 3 /* so many times what it takes a job has left, at least, to get what it asks for */

static void keep_power_cap(struct gain_round *round)
{
    if (!round->over)
        return;
    gain_round_move_bound(round, true);
    gain_round_free_nodes(round, round->over, INFINITY, true, "power is above the cap");
    gain_round_move_bound(round, false);
}

/* From now on the job is not changed again in this plan. */
static void change_size(struct gain_round *round, struct gain_job *job, int nodes)
{
    int given = job->nodes - nodes;
    *(given > 0 ? &round->coming : &round->free) += given;
    job->movable = false;
    gain_job_set(job, nodes);
}

/* It stands still, and is slower until `begins`, for nodes that others can use from then on, for `seconds`. Nobody may
 * wait now: then they count as if one job more of its kind did. */
static bool is_worth_giving(const struct gain_round *round, const struct gain_job *job, int nodes, double begins)
{
    int up = round->state->node_count - round->state->down;
    double takes = gain_job_takes(job, round->state, nodes), left = gain_job_left(job->job);
    double slower = begins * (job->speed / gain_job_speed(job, nodes) - 1);
    double used = (left - fmax(begins, takes)) * (job->nodes - nodes) * (round->price + job->weight / up);
    return takes < left && used > job->weight * (gain_job_cost(job, round->state, nodes) + fmax(0, slower));
}

/* The next phase cannot use all nodes, and while it is rigid, or has begun, it is too late. */
static void give_back(struct gain_round *round, struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    int nodes = gain_job_fit(job, job->nodes);
    if (nodes <= 0 || nodes == job->nodes || !is_worth_giving(round, job, nodes, next->begins))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: its phase %s in %.0f s takes at most %d, costs %.2f s of %.0f s left",
             job->from, nodes, next->name ? next->name : "ahead", next->begins, nodes,
             gain_job_cost(job, round->state, nodes), gain_job_left(job->job));
    change_size(round, job, nodes);
}

static void prepare_phases(struct gain_round *round)
{
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        if (!job->movable && job->bound <= 0)
            continue;
        if (job->ending && job->nodes == job->from)
            give_back(round, job);
    }
}

/* All that it asks for, or nothing, as its end is near; what has to come first is kept for it. */
static void grant_growth(struct gain_round *round, struct gain_job *job, int nodes)
{
    int needed = nodes - job->nodes, there = round->free + round->coming;
    double left = gain_job_left(job->job);
    if (left <= ENDS * gain_job_takes(job, round->state, nodes))
        return;
    if (needed > there && !gain_round_free_nodes(round, needed - there, job->weight * left, false,
                                                 "makes room for a job that asks for nodes"))
        return;
    if (needed <= round->free) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d, %d nodes idle", job->from, nodes,
                 job->job->asked, round->free);
        change_size(round, job, nodes);
        return;
    }
    round->coming = there > needed ? there - needed : 0;
    round->free = 0;
}

static void serve_wish(struct gain_round *round, struct gain_job *job)
{
    int nodes = gain_job_fit(job, job->job->asked);
    if (nodes > job->nodes) {
        grant_growth(round, job, nodes);
    } else if (nodes > 0 && nodes < job->nodes && is_worth_giving(round, job, nodes, 0)) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d", job->from, nodes, job->job->asked);
        change_size(round, job, nodes);
    }
}

static void serve_wishes(struct gain_round *round)
{
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        const epop_policy_job_t *it = job->job;
        bool elastic = it->phase_count < 1 || it->phases[0].elastic;
        if (it->kind == EPOP_EVOLVING && it->asked > 0 && it->state == EPOP_POLICY_RUNS && elastic)
            serve_wish(round, job);
    }
}

/* ---- Idle nodes that nobody waits for ----------------------------------------------------------- */

/*
 * They go to running jobs where that pays, node by node to the job to which a node is worth most: relative speedup by
 * weight.
 */
#define MARGINAL 1e-3 /* speedup that each node has to bring a job that would miss its deadline */
#define SOON     5    /* seconds: a job that comes may wait so long for nodes that others can do without */

/* Seconds that it saves at so many nodes. */
static double seconds_saved(const struct gain_job *job, int nodes)
{
    double left = fmax(0, gain_job_until(job, nodes) - job->latency);
    return left * (1 - job->speed / gain_job_speed(job, nodes));
}

static bool growth_pays(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    return seconds_saved(job, nodes) >= round->options->factor * gain_job_cost(job, round->state, nodes);
}

/* What is left while sizes are looked for. */
struct left {
    int free, extra;
};

/* Behind a promised start only what it leaves may be taken, but by those whose end it waits for. */
static int nodes_left_for(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    bool before = !round->blocked || gain_round_fast(job) <= round->shadow;
    return before || left->free < left->extra ? left->free : left->extra;
}

/* The next size, about an eighth more; 0: none within what is free, or it is not worth the nodes. */
static int next_larger(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    int to = gain_job_fit(job, job->trial + job->trial / 8);
    if (to <= job->trial)
        to = gain_job_above(job, job->trial);
    if (to > job->job->wanted && gain_job_takes(job, round->state, to) > SOON)
        return 0;
    if (to <= job->trial || to - job->trial > nodes_left_for(round, job, left))
        return 0;
    double speed = gain_job_speed(job, job->trial), brings = gain_job_speed(job, to) - speed;
    bool late = gain_job_haste(job, job->work / speed) > job->weight;
    return brings >= (late ? MARGINAL : round->options->marginal) * (to - job->trial) ? to : 0;
}

static double worth_of_a_node(const struct gain_job *job, int to)
{
    double speed = gain_job_speed(job, job->trial);
    double weight = gain_job_haste(job, job->work / speed);
    return weight * (gain_job_speed(job, to) / speed - 1) / (to - job->trial);
}

static int neediest(const struct gain_round *round, const struct left *left)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < round->running; i++) {
        const struct gain_job *job = &round->jobs[i];
        int to = job->trial ? next_larger(round, job, left) : 0;
        double value = to ? worth_of_a_node(job, to) : 0;
        if (value > most)
            most = value, best = i;
    }
    return best;
}

static void give_on_trial(struct gain_job *job, int to, struct left *left)
{
    left->free -= to - job->trial;
    left->extra -= to - job->trial;
    job->trial = to;
}

/* The largest size that is worth the nodes, with all that is free. */
static int largest_worth(const struct gain_round *round, struct gain_job *job, struct left left)
{
    job->trial = job->nodes;
    for (int to = next_larger(round, job, &left); to; to = next_larger(round, job, &left))
        give_on_trial(job, to, &left);
    return job->trial;
}

static bool may_grow(const struct gain_round *round, struct gain_job *job, struct left left)
{
    if (!job->movable || job->nodes != job->from)
        return false;
    int most = largest_worth(round, job, left);
    return most > job->nodes && growth_pays(round, job, most);
}

static void settle_growth(struct gain_round *round, struct gain_job *job, int idle)
{
    if (!job->trial || job->trial == job->nodes || !growth_pays(round, job, job->trial))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: %.2f times %s, %d nodes idle, costs %.2f s of %.0f s left",
             job->nodes, job->trial, gain_job_speed(job, job->trial) / job->speed, gain_job_brings(job), idle,
             gain_job_cost(job, round->state, job->trial), job->job->left);
    round->free -= job->trial - job->nodes;
    round->extra -= job->trial - job->nodes;
    gain_job_set(job, job->trial);
}

static void grow_jobs(struct gain_round *round)
{
    struct left left = {round->free, round->blocked ? round->extra : round->free};
    if (left.free <= 0 || gain_round_is_collecting(round))
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        job->trial = may_grow(round, job, left) ? job->nodes : 0;
    }
    for (int i = neediest(round, &left); i >= 0; i = neediest(round, &left))
        give_on_trial(&round->jobs[i], next_larger(round, &round->jobs[i], &left), &left);
    int idle = round->free;
    for (int i = 0; i < round->running; i++)
        settle_growth(round, &round->jobs[i], idle);
}

/*
 * With weak scaling more nodes than the user wants bring work that nobody asked for, and no earlier end. They are given
 * where nobody waits, after all others, for as much more work as would pay for a growth.
 */
static void grow_work(struct gain_round *round)
{
    bool any = false;
    if (round->state->waiting_count > 0)
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        if (!job->job->weak || !job->movable || job->nodes != job->from)
            continue;
        job->useful = INT_MAX;
        gain_job_set(job, job->nodes);
        any = true;
    }
    if (any)
        grow_jobs(round);
}

/* ---- Jobs that are spread ----------------------------------------------------------------------- */

/*
 * A job is moved below fewer switches, by a growth onto nodes that are left and a shrink, where what it computes faster
 * until its end pays for both. It is over before a promised start. Those that the plan resizes may be moved later.
 */

static bool move_pays(const struct gain_round *round, const struct gain_job *job, const epop_policy_move_t *move)
{
    double cost = 2 * gain_resize_stall(job, round->state, job->nodes, move->nodes);
    double takes = 2 * job->latency + cost, left = gain_job_left(job->job) - takes;
    if ((round->blocked || round->firm) && takes > round->shadow)
        return false;
    return move->saves > 0 && move->saves * left >= round->options->factor * cost;
}

static void move_job(struct gain_round *round, struct gain_job *job)
{
    epop_policy_move_t move;
    if (epop_plan_moved(round->plan, job->job, &move) || !move_pays(round, job, &move))
        return;
    int nodes = move.nodes - job->nodes;
    epop_plan_move(round->plan, job->job,
                   "moves by %d node%s, from %d leaf switches to %d: %.3f times as fast, %.0f s left", nodes,
                   nodes == 1 ? "" : "s", job->job->leaves, move.leaves, 1 / (1 - move.saves), gain_job_left(job->job));
}

static void move_jobs(struct gain_round *round)
{
    if (round->options->gather <= 0 || round->state->spread_cost <= 0)
        return;
    if (gain_round_is_collecting(round))
        return;
    for (int i = 0; i < round->running && epop_plan_idle(round->plan) > 0; i++) {
        struct gain_job *job = &round->jobs[i];
        if (job->movable && job->nodes == job->from && job->job->leaves > 1)
            move_job(round, job);
    }
}

/* ---- The plan ----------------------------------------------------------------------------------- */

/* What it was not given because an earlier job of the program had no use for it. */
static void write_start(const struct gain_round *round, const struct gain_job *job)
{
    char earlier[64] = "";
    if (job->job->earlier && job->nodes == job->top && job->top < gain_job_fit(job, job->job->wanted))
        snprintf(earlier, sizeof earlier, ", as more brought job %lld of this program little",
                 (long long)job->job->earlier);
    epop_plan_start(round->plan, job->job, job->nodes, "starts with %d of %d nodes, %s%s: %d idle, %d wait", job->nodes,
                    job->job->wanted, job->why, earlier, round->state->idle, round->state->waiting_count);
}

static void write_job(const struct gain_round *round, const struct gain_job *job)
{
    if (!job->from && job->held)
        return;
    if (!job->from)
        write_start(round, job);
    else if (job->nodes != job->job->target)
        epop_plan_resize(round->plan, job->job, job->nodes, "%s", job->reason);
}

/* A job that may not be resized yet could give or take nodes when it may. */
static double until_stay(const struct gain_round *round, const struct gain_job *job)
{
    bool grows = round->free > 0 && gain_job_above(job, job->nodes) > 0;
    return job->bound > 0 && (round->blocked || grows) ? job->bound : INFINITY;
}

/* A phase comes near that cannot use all of the job's nodes. */
static double until_phase(const struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    if (job->job->phase_count < 2 || job->ending || job->job->kind < EPOP_MALLEABLE)
        return INFINITY;
    return next->begins < 0 || next->range.max >= job->nodes ? INFINITY : next->begins - job->near;
}

static void set_wake(const struct gain_round *round)
{
    double first = INFINITY;
    for (int i = 0; i < round->running; i++)
        first = fmin(first, fmin(until_stay(round, &round->jobs[i]), until_phase(&round->jobs[i])));
    if (isfinite(first))
        epop_plan_wake(round->plan, round->state->now + fmax(first, 1e-3));
}

/* Those that start first: in the order of the queue. */
static void write_plan(const struct gain_round *round)
{
    for (int i = round->running; i < round->count; i++)
        write_job(round, &round->jobs[i]);
    for (int i = 0; i < round->running; i++)
        write_job(round, &round->jobs[i]);
    set_wake(round);
}

/* ---- The policy --------------------------------------------------------------------------------- */

static int gain_follows_easy(const void *settings)
{
    return ((const struct gain_options *)settings)->firm > 0;
}

static void gain_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    if (gain_round_begin(&round, settings, state, plan))
        return;
    keep_power_cap(&round);
    prepare_phases(&round);
    serve_wishes(&round);
    gain_queue_serve(&round);
    grow_jobs(&round);
    grow_work(&round);
    write_plan(&round);
    move_jobs(&round);
    gain_round_end(&round);
}

const epop_policy_t policy_gain = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof policy_gain,
    .name = "gain",
    .summary = "a node goes where it brings most: first to jobs that wait, then to running ones",
    .options = option_list,
    .open = gain_open,
    .option = gain_set_option,
    .decide = gain_decide,
    .close = gain_close,
    .follows_easy = gain_follows_easy,
};
