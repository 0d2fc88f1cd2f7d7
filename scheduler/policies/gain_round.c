/* The working set of a decision. */
#include "scheduler/policies/gain_round.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/policies/gain_power.h"
#include "scheduler/policies/gain_users.h"

#define EFFORT 250000

/* A node that is held for a second keeps all that wait, each by its weight, from that part of the machine. */
static double price_of(const epop_policy_state_t *state)
{
    double waiting = 0;
    for (int i = 0; i < state->waiting_count; i++)
        waiting += gain_job_weight(state->waiting[i]);
    int up = state->node_count - state->down;
    return up > 0 ? waiting / up : 0;
}

/* When the decision was taken is not known: the whole of latency and stall. */
static double back_in(const struct gain_round *round)
{
    double back = 0;
    for (int i = 0; i < round->running; i++) {
        const struct gain_job *job = &round->jobs[i];
        if (job->job->state == EPOP_POLICY_ADAPTS && job->nodes < job->from)
            back = fmax(back, gain_job_takes(job, round->state, job->nodes));
    }
    return back;
}

int gain_round_begin(struct gain_round *round, const struct gain_options *options, const epop_policy_state_t *state,
                     epop_plan_t *plan)
{
    *round = (struct gain_round){.options = options, .state = state, .plan = plan, .shadow = INFINITY};
    round->room = state->running_count + 64;
    round->jobs = calloc((size_t)round->room, sizeof *round->jobs);
    round->steps = calloc((size_t)round->room, sizeof *round->steps);
    if (!round->jobs || !round->steps) {
        gain_round_end(round);
        return -1;
    }
    for (int i = 0; i < state->running_count; i++)
        round->jobs[i] = gain_job_of(state->running[i], state, options);
    round->count = round->running = state->running_count;
    round->back = back_in(round);
    gain_power_begin(round);
    round->most = gain_power_most(state);
    round->effort = EFFORT;
    round->price = price_of(state);
    gain_users_weigh(round);
    return 0;
}

void gain_round_end(struct gain_round *round)
{
    free(round->jobs);
    free(round->steps);
    free(round->ends);
}

static bool enlarge(struct gain_round *round)
{
    size_t room = 2 * (size_t)round->room;
    struct gain_job *jobs = realloc(round->jobs, room * sizeof *jobs);
    if (!jobs)
        return false;
    round->jobs = jobs;
    struct gain_step *steps = realloc(round->steps, room * sizeof *steps);
    if (!steps)
        return false;
    round->steps = steps;
    round->room = (int)room;
    return true;
}

struct gain_job *gain_round_start(struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (round->count == round->room && !enlarge(round))
        return NULL;
    struct gain_job *made = &round->jobs[round->count++];
    *made = *job;
    made->from = 0;
    gain_job_set(made, nodes);
    round->end_count = 0;
    return made;
}

static int by_time(const void *a, const void *b)
{
    const struct gain_end *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* As it is told, to the last bit, where the plan does not change it: so does `easy`. */
static double seconds_to_end(const struct gain_job *job)
{
    if (job->from && job->nodes == job->from && job->job->left >= 0)
        return job->job->left;
    return job->work / job->speed + (job->held ? job->latency : 0);
}

double gain_round_fast(const struct gain_job *job)
{
    double seconds = seconds_to_end(job);
    return !gain_job_grows(job->job) || job->top < 1 ? seconds : fmin(seconds, gain_job_seconds(job, job->top));
}

/* Nodes that an adapting job gives back are among those that come: its end gives the others. */
static bool list_ends(struct gain_round *round, bool fast)
{
    free(round->ends);
    round->ends = calloc((size_t)round->count + 1, sizeof *round->ends);
    if (!round->ends)
        return false;
    for (int i = 0; i < round->count; i++) {
        const struct gain_job *job = &round->jobs[i];
        round->ends[i] = (struct gain_end){fast ? gain_round_fast(job) : seconds_to_end(job), job->nodes};
    }
    round->end_count = round->count;
    round->fast = fast;
    qsort(round->ends, (size_t)round->count, sizeof *round->ends, by_time);
    return true;
}

static double when(struct gain_round *round, int nodes, bool fast, int *extra)
{
    int there = round->free + round->coming, i = 0;
    double time = 0;
    if ((round->end_count != round->count || round->fast != fast) && !list_ends(round, fast))
        return INFINITY;
    for (; there < nodes && i < round->end_count; i++)
        there += round->ends[i].nodes, time = round->ends[i].time;
    for (; i < round->end_count && round->ends[i].time <= time; i++)
        there += round->ends[i].nodes;
    if (extra)
        *extra = there < nodes ? there : there - nodes;
    return there < nodes ? INFINITY : time;
}

double gain_round_when(struct gain_round *round, int nodes, int *extra)
{
    return when(round, nodes, false, extra);
}

/* All that runs, on the whole machine. */
static double drain(const struct gain_round *round)
{
    double area = 0;
    int up = round->state->node_count - round->state->down;
    for (int i = 0; i < round->count; i++)
        area += round->jobs[i].nodes * round->jobs[i].work / round->jobs[i].speed;
    return up > 0 ? area / up : INFINITY;
}

double gain_round_soon(struct gain_round *round, int nodes, int *extra)
{
    double now = when(round, nodes, false, extra);
    int left;
    double fast = when(round, nodes, true, &left);
    if (!(fast < now))
        return now;
    if (extra)
        *extra = left;
    return fmin(now, fmax(fast, drain(round)));
}

static void write_one(const struct gain_round *round, const struct gain_job *job)
{
    if (!job->from && job->held)
        return;
    if (!job->from)
        epop_plan_start(round->plan, job->job, job->nodes, "starts with %d of %d nodes, %s: %d idle, %d wait",
                        job->nodes, job->job->wanted, job->why, round->state->idle, round->state->waiting_count);
    else if (job->nodes != job->job->target)
        epop_plan_resize(round->plan, job->job, job->nodes, "%s", job->reason);
}

/* A job that may not be resized yet could give or take nodes when it may. */
static double until_stay(const struct gain_round *round, const struct gain_job *job)
{
    bool grows = round->free > 0 && gain_job_above(job, job->nodes) > 0;
    return job->bound > 1e-6 && (round->blocked || grows) ? job->bound : INFINITY;
}

/* A phase comes near that cannot use all of the job's nodes. */
static double until_phase(const struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    if (job->job->phase_count < 2 || job->ending || job->job->kind < EPOP_MALLEABLE)
        return INFINITY;
    return next->begins < 0 || next->range.max >= job->nodes ? INFINITY : next->begins - job->near;
}

static void wake(const struct gain_round *round)
{
    double first = INFINITY;
    for (int i = 0; i < round->running; i++)
        first = fmin(first, fmin(until_stay(round, &round->jobs[i]), until_phase(&round->jobs[i])));
    if (isfinite(first))
        epop_plan_wake(round->plan, round->state->now + fmax(first, 1e-3));
}

/* Those that start first: in the order of the queue. */
void gain_round_write(const struct gain_round *round)
{
    for (int i = round->running; i < round->count; i++)
        write_one(round, &round->jobs[i]);
    for (int i = 0; i < round->running; i++)
        write_one(round, &round->jobs[i]);
    wake(round);
}
