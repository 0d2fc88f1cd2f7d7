/* Ranges, times and costs of one job. */
#include "scheduler/policies/gain_job.h"

#include <math.h>

#include "scheduler/policies/gain_cost.h"

#define LONG 86400.0

double gain_job_left(const epop_policy_job_t *job)
{
    return job->left >= 0 ? job->left : job->limit > 0 ? job->limit : LONG;
}

bool gain_job_flexible(const epop_policy_job_t *job)
{
    return job->kind != EPOP_RIGID;
}

static double shown(double value, double otherwise)
{
    return value >= 0 ? value : otherwise;
}

/* A phase that is rigid is near: how it starts is how it stays. */
static bool is_rigid_soon(const epop_policy_job_t *job)
{
    for (int i = 0; i < job->phase_count; i++)
        if (!job->phases[i].elastic && job->phases[i].begins >= 0 && job->phases[i].begins < gain_job_left(job) / 2)
            return true;
    return false;
}

bool gain_job_grows(const epop_policy_job_t *job)
{
    return job->kind >= EPOP_MALLEABLE && (job->phase_count < 1 || job->phases[0].elastic) && !is_rigid_soon(job);
}

double gain_job_cost(const struct gain_job *job, const epop_policy_state_t *state, int nodes)
{
    return gain_cost(job->job, state, job->from, nodes);
}

double gain_job_takes(const struct gain_job *job, const epop_policy_state_t *state, int nodes)
{
    return job->latency + gain_job_cost(job, state, nodes);
}

/* The ranges that count. */
static int ranges(const struct gain_job *job, const epop_policy_range_t *found[3])
{
    int count = 0;
    found[count++] = &job->job->range;
    if (job->job->phase_count > 0)
        found[count++] = &job->job->phases[0].range;
    if (job->ending)
        found[count++] = &job->job->phases[1].range;
    return count;
}

/* From range to range, until all agree on a size; 0: they do not. */
static int agreed(const struct gain_job *job, int nodes, int (*next)(const epop_policy_range_t *range, int nodes))
{
    const epop_policy_range_t *found[3];
    int count = ranges(job, found), agree = 0;
    for (int i = 0; nodes > 0 && agree < count; i = (i + 1) % count) {
        int size = next(found[i], nodes);
        agree = size == nodes ? agree + 1 : 1;
        nodes = size;
    }
    return nodes;
}

int gain_job_fit(const struct gain_job *job, int nodes)
{
    return agreed(job, nodes, epop_policy_fit);
}

/* The smallest size of the range that is `nodes` or more; 0: none. */
static int reach(const epop_policy_range_t *range, int nodes)
{
    if (!range->count)
        return nodes > range->max ? 0 : nodes < range->min ? range->min : nodes;
    int low = 0, high = range->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (range->sizes[middle] < nodes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < range->count ? range->sizes[low] : 0;
}

int gain_job_above(const struct gain_job *job, int nodes)
{
    return agreed(job, nodes + 1, reach);
}

/* A phase that takes other sizes only is no reason to wait, nor one that keeps a job small that cannot grow later. */
static int top_of(const struct gain_job *job)
{
    int wanted = job->job->wanted, fit = gain_job_grows(job->job) ? gain_job_fit(job, wanted) : 0;
    if (fit <= 0)
        fit = epop_policy_fit(&job->job->range, wanted);
    return fit > 0 ? fit : wanted;
}

/* The present phase elastic, nothing under way, and no wish of its own. */
static bool could_move(const epop_policy_job_t *job)
{
    if (job->kind != EPOP_MALLEABLE && job->kind != EPOP_EVOLVING)
        return false;
    if (job->kind == EPOP_EVOLVING && job->asked > 0)
        return false;
    return job->state == EPOP_POLICY_RUNS && (job->phase_count < 1 || job->phases[0].elastic);
}

/* How long it has to stay at its size still. */
static double stays(const struct gain_job *job, const epop_policy_state_t *state, const struct gain_options *options)
{
    double stay = fmax(options->stay, options->stay_costs * gain_job_cost(job, state, job->nodes));
    return fmax(0, job->job->resized + stay - state->now);
}

double gain_job_weight(const epop_policy_job_t *job)
{
    return 1 / fmax(job->limit > 0 ? job->limit : gain_job_left(job), 10);
}

double gain_job_at_most(const struct gain_job *job, int nodes)
{
    double left = gain_job_left(job->job);
    return nodes < job->job->wanted ? left * job->job->wanted / nodes : left;
}

struct gain_job gain_job_of(const epop_policy_job_t *job, const epop_policy_state_t *state,
                            const struct gain_options *options)
{
    struct gain_job made = {.job = job, .model = gain_model_fit(job, options->efficiency)};
    made.weight = gain_job_weight(job);
    made.from = job->nodes;
    made.top = top_of(&made);
    gain_job_set(&made, job->state == EPOP_POLICY_WAITS ? made.top : job->target);
    int at = job->state == EPOP_POLICY_WAITS ? job->wanted : job->nodes;
    made.work = gain_job_left(job) * gain_speedup(&made.model, at);
    made.latency = shown(job->resize_latency, 1);
    made.bound = could_move(job) ? stays(&made, state, options) : 0;
    made.movable = could_move(job) && made.bound <= 1e-6;
    made.near = fmax(options->ahead, 2 * (made.latency + gain_job_cost(&made, state, job->nodes)));
    made.ending = job->phase_count > 1 && job->phases[1].begins >= 0 && job->phases[1].begins <= made.near;
    return made;
}

void gain_job_set(struct gain_job *job, int nodes)
{
    job->nodes = nodes;
    job->speed = gain_speedup(&job->model, nodes > 0 ? nodes : 1);
}

double gain_job_seconds(const struct gain_job *job, int nodes)
{
    return job->work / gain_speedup(&job->model, nodes);
}

double gain_job_until(const struct gain_job *job, int nodes)
{
    double left = gain_job_left(job->job);
    for (int i = 1; i < job->job->phase_count; i++) {
        const epop_policy_phase_t *phase = &job->job->phases[i];
        if (phase->begins >= 0 && phase->begins < left && !epop_policy_accepts(&phase->range, nodes))
            return phase->begins;
    }
    return left;
}
