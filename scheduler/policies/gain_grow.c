/* Node by node to whom a node is worth most: relative speedup by weight. */
#include "scheduler/policies/gain_grow.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/policies/gain_round.h"

#define SOON 5 /* seconds: a job that comes may wait so long for nodes that others can do without */

/* Seconds that it saves at so many nodes. */
static double saved(const struct gain_job *job, int nodes)
{
    double left = fmax(0, gain_job_until(job, nodes) - job->latency);
    return left * (1 - job->speed / gain_speedup(&job->model, nodes));
}

static bool pays(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    return saved(job, nodes) >= round->options->factor * gain_job_cost(job, round->state, nodes);
}

/* What is left while sizes are looked for. */
struct left {
    int free, extra;
};

/* Behind a promised start only what it leaves may be taken, but by those whose end it waits for. */
static int available(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    bool before = !round->blocked || gain_round_fast(job) <= round->shadow;
    return before || left->free < left->extra ? left->free : left->extra;
}

/* The next size, about an eighth more; 0: none within what is free, or it is not worth the nodes. */
static int more(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    int to = gain_job_fit(job, job->trial + job->trial / 8);
    if (to <= job->trial)
        to = gain_job_above(job, job->trial);
    if (to > job->job->wanted && gain_job_takes(job, round->state, to) > SOON)
        return 0;
    if (to <= job->trial || to - job->trial > available(round, job, left))
        return 0;
    double brings = gain_speedup(&job->model, to) - gain_speedup(&job->model, job->trial);
    return brings >= round->options->marginal * (to - job->trial) ? to : 0;
}

static double worth(const struct gain_job *job, int to)
{
    double speed = gain_speedup(&job->model, job->trial);
    return job->weight * (gain_speedup(&job->model, to) / speed - 1) / (to - job->trial);
}

static int neediest(const struct gain_round *round, const struct left *left)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < round->running; i++) {
        const struct gain_job *job = &round->jobs[i];
        int to = job->trial ? more(round, job, left) : 0;
        double value = to ? worth(job, to) : 0;
        if (value > most)
            most = value, best = i;
    }
    return best;
}

static void give(struct gain_job *job, int to, struct left *left)
{
    left->free -= to - job->trial;
    left->extra -= to - job->trial;
    job->trial = to;
}

/* The largest size that is worth the nodes, with all that is free. */
static int reachable(const struct gain_round *round, struct gain_job *job, struct left left)
{
    job->trial = job->nodes;
    for (int to = more(round, job, &left); to; to = more(round, job, &left))
        give(job, to, &left);
    return job->trial;
}

static bool may_grow(const struct gain_round *round, struct gain_job *job, struct left left)
{
    if (!job->movable || job->nodes != job->from)
        return false;
    int most = reachable(round, job, left);
    return most > job->nodes && pays(round, job, most);
}

static void settle(struct gain_round *round, struct gain_job *job, int idle)
{
    if (!job->trial || job->trial == job->nodes || !pays(round, job, job->trial))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: %.2f times as fast, %d nodes idle, costs %.2f s of %.0f s left",
             job->nodes, job->trial, gain_speedup(&job->model, job->trial) / job->speed, idle,
             gain_job_cost(job, round->state, job->trial), job->job->left);
    round->free -= job->trial - job->nodes;
    round->extra -= job->trial - job->nodes;
    gain_job_set(job, job->trial);
}

void gain_grow(struct gain_round *round)
{
    struct left left = {round->free, round->blocked ? round->extra : round->free};
    if (left.free <= 0)
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        job->trial = may_grow(round, job, left) ? job->nodes : 0;
    }
    for (int i = neediest(round, &left); i >= 0; i = neediest(round, &left))
        give(&round->jobs[i], more(round, &round->jobs[i], &left), &left);
    int idle = round->free;
    for (int i = 0; i < round->running; i++)
        settle(round, &round->jobs[i], idle);
}
