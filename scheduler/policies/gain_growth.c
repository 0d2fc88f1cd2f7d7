/* Idle nodes that nobody waits for: who gets them, and how many. */
#include "scheduler/policies/gain_growth.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

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

static bool may_grow(const struct gain_round *round, struct gain_job *job, struct left left, bool small)
{
    if (!job->movable || job->nodes != job->from || (small && job->nodes >= job->job->wanted))
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

void gain_growth_give(struct gain_round *round, bool small)
{
    struct left left = {round->free, round->blocked ? round->extra : round->free};
    if (left.free <= 0 || gain_round_is_collecting(round))
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        job->trial = may_grow(round, job, left, small) ? job->nodes : 0;
    }
    for (int i = neediest(round, &left); i >= 0; i = neediest(round, &left))
        give_on_trial(&round->jobs[i], next_larger(round, &round->jobs[i], &left), &left);
    int idle = round->free;
    for (int i = 0; i < round->running; i++)
        settle_growth(round, &round->jobs[i], idle);
}

void gain_growth_give_work(struct gain_round *round)
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
        gain_growth_give(round, false);
}
