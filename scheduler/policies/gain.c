/*
 * The policy `gain`: a node goes where it brings most. Jobs that wait come first, and running ones make room for them
 * where that costs less than it saves; idle nodes make running jobs larger where that pays for the resize.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "scheduler/policies/gain_queue.h"
#include "scheduler/policies/policies.h"

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

/* ---- The policy --------------------------------------------------------------------------------- */

static int gain_open(void **settings)
{
    *settings = gain_options_new();
    return *settings ? 0 : -1;
}

static int gain_set_option(void *settings, const char *name, const char *value)
{
    return gain_options_set(settings, name, value);
}

static void gain_close(void *settings)
{
    gain_options_free(settings);
}

static int gain_follows_easy(const void *settings)
{
    return ((const struct gain_options *)settings)->firm > 0;
}

static void gain_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    if (gain_round_begin(&round, settings, state, plan))
        return;
    gain_queue_serve(&round);
    grow_jobs(&round);
    grow_work(&round);
    gain_queue_write(&round);
    move_jobs(&round);
    gain_round_end(&round);
}

const epop_policy_t policy_gain = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof policy_gain,
    .name = "gain",
    .summary = "a node goes where it brings most: first to jobs that wait, then to running ones",
    .options = gain_option_list,
    .open = gain_open,
    .option = gain_set_option,
    .decide = gain_decide,
    .close = gain_close,
    .follows_easy = gain_follows_easy,
};
