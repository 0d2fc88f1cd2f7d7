/* What the policy `gain` knows of one job: its speedup, the cost of its resizes, its sizes and times. */
#include "scheduler/policies/gain_model.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/sizes.h"

/* ---- Options ------------------------------------------------------------------------------------ */

const epop_policy_option_t gain_option_list[] = {
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

bool gain_number(const char *value, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && !*end && !value[strspn(value, "0123456789.eE+-")] && isfinite(*number);
}

int gain_options_set(struct gain_options *options, const char *name, const char *value)
{
    for (size_t i = 0; gain_option_list[i].name; i++) {
        if (strcmp(gain_option_list[i].name, name))
            continue;
        double number;
        if (!gain_number(value, &number) || number < slots[i].min || number > slots[i].max)
            return -1;
        *(double *)((char *)options + slots[i].at) = number;
        return 0;
    }
    return -1;
}

struct gain_options *gain_options_new(void)
{
    struct gain_options *options = calloc(1, sizeof *options);
    if (!options)
        return NULL;
    options->fits = calloc(GAIN_FITS, sizeof *options->fits);
    for (size_t i = 0; gain_option_list[i].name; i++)
        gain_options_set(options, gain_option_list[i].name, gain_option_list[i].value);
    return options;
}

void gain_options_free(struct gain_options *options)
{
    free(options->fits);
    free(options);
}

/* ---- How a job speeds up ------------------------------------------------------------------------ */

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* A. Downey, "A model for speedup of parallel programs", UC Berkeley 1997. */
static double downey(double n, double a, double sigma)
{
    if (sigma > 1) {
        if (n >= a + a * sigma - sigma)
            return a;
        return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
    }
    if (n <= a)
        return a * n / (a + sigma * (n - 1) / 2);
    if (n <= 2 * a - 1)
        return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2));
    return a;
}

double gain_speedup(const struct gain_model *model, int nodes)
{
    if (model->parallelism > 0)
        return downey(nodes, model->parallelism, model->sigma);
    return nodes / (1 + model->share * (nodes - 1));
}

/* Fits are least squares of relative errors: an iteration of a millisecond counts as much as one of an hour. */
static int sample_counts(const epop_policy_job_t *job, int i)
{
    const epop_policy_sample_t *sample = &job->samples[i];
    return sample->phase == job->phase && sample->nodes > 0 && sample->seconds > 0 && sample->iterations > 0;
}

/* seconds = serial + parallel / nodes, by the normal equations. */
static struct gain_model fit_amdahl(const epop_policy_job_t *job)
{
    double a = 0, b = 0, c = 0, d = 0, e = 0;
    for (int i = 0; i < job->sample_count; i++) {
        if (!sample_counts(job, i))
            continue;
        double one = 1 / job->samples[i].seconds, part = one / job->samples[i].nodes;
        a += one * one, b += one * part, c += part * part, d += one, e += part;
    }
    double serial = (d * c - e * b) / (a * c - b * b), parallel = (e * a - d * b) / (a * c - b * b);
    double share = serial + parallel > 0 ? serial / (serial + parallel) : 1;
    return (struct gain_model){.share = clamp(share, 0, 1), .source = GAIN_FROM_SIZES};
}

/* Sum of squared relative errors, with the best time on one node. */
static double misfit(const epop_policy_job_t *job, const struct gain_model *model)
{
    double first = 0, second = 0, count = 0;
    for (int i = 0; i < job->sample_count; i++) {
        if (!sample_counts(job, i))
            continue;
        double ratio = 1 / (gain_speedup(model, job->samples[i].nodes) * job->samples[i].seconds);
        first += ratio, second += ratio * ratio, count++;
    }
    return count - first * first / second;
}

static struct gain_model fit_downey(const epop_policy_job_t *job, struct gain_model best)
{
    static const double sigmas[] = {0, 0.5, 1, 2};
    double least = misfit(job, &best) / 2;
    for (double a = 1; a < 5000; a *= 1.25)
        for (int i = 0; i < 4; i++) {
            struct gain_model model = {.parallelism = a, .sigma = sigmas[i], .source = GAIN_FROM_SIZES};
            double error = misfit(job, &model);
            if (error < least - 1e-9)
                least = error, best = model;
        }
    return best;
}

static uint64_t mix(uint64_t sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

/* What a fit to its samples follows from. */
static uint64_t mark_of_samples(const epop_policy_job_t *job)
{
    uint64_t sum = 1;
    for (int i = 0; i < job->sample_count; i++)
        if (sample_counts(job, i))
            sum = mix(mix(sum, job->samples[i].nodes), job->samples[i].seconds);
    return sum;
}

/* As fit_downey: most jobs were measured at nothing new since the last decision. */
static struct gain_model known_fit(const epop_policy_job_t *job, struct gain_model best, struct gain_fit *fits)
{
    if (!fits)
        return fit_downey(job, best);
    uint64_t mark = mark_of_samples(job);
    struct gain_fit *fit = &fits[mark % GAIN_FITS];
    if (fit->of != mark)
        *fit = (struct gain_fit){mark, fit_downey(job, best)};
    return fit->model;
}

/* The share at which Amdahl's law has that efficiency at so many nodes. */
static double share_of(double efficiency, int nodes)
{
    return clamp((1 / efficiency - 1) / (nodes > 1 ? nodes - 1 : 1), 0, 1);
}

struct gain_model gain_model_fit(const epop_policy_job_t *job, double efficiency, struct gain_fit *fits)
{
    struct gain_model model = {.share = share_of(efficiency, job->wanted), .source = GAIN_ASSUMED};
    int sizes = 0;
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        if (!sample_counts(job, i))
            continue;
        sizes++;
        /* What is not computed is in MPI: the time of n nodes is 1 + MTCT times that of n nodes without loss. */
        if (sample->nodes > 1 && sample->mtct >= 0)
            model =
                (struct gain_model){.share = share_of(1 / (1 + sample->mtct), sample->nodes), .source = GAIN_FROM_MTCT};
    }
    if (sizes > 1)
        model = fit_amdahl(job);
    return sizes > 2 ? known_fit(job, model, fits) : model;
}

/* ---- What a resize costs ------------------------------------------------------------------------ */

static double cost_by_rule(const epop_policy_job_t *job, const epop_policy_state_t *state, int one, int other)
{
    int larger = one > other ? one : other, smaller = one > other ? other : one;
    double moved = job->bytes > 0 && smaller > 0 ? job->bytes / smaller : 0;
    return state->resize_base + state->resize_per_node * larger + state->resize_per_byte * moved;
}

/* A job tells the mean of its resizes, not their sizes: those between the sizes at which it was measured and the
 * present one stand for them. 0: it was at no other size. */
static double usual_cost_by_rule(const epop_policy_job_t *job, const epop_policy_state_t *state)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < job->sample_count; i++)
        if (job->samples[i].nodes > 0 && job->samples[i].nodes != job->nodes)
            sum += cost_by_rule(job, state, job->samples[i].nodes, job->nodes), count++;
    return count > 0 ? sum / count : 0;
}

double gain_resize_stall(const struct gain_job *job, const epop_policy_state_t *state, int one, int other)
{
    double rule = cost_by_rule(job->job, state, one, other), took = job->job->resize_cost;
    if (job->job->resizes < 1 || took < 0)
        return rule;
    return job->usual > 0 ? took * (rule / job->usual) : fmax(took, rule);
}

/* ---- A job as it is planned with ---------------------------------------------------------------- */

#define LONG 86400.0

double gain_job_left(const epop_policy_job_t *job)
{
    return job->left >= 0 ? job->left : job->limit > 0 ? job->limit : LONG;
}

bool gain_job_flexible(const epop_policy_job_t *job)
{
    return job->kind != EPOP_RIGID;
}

static double known_or(double value, double otherwise)
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
    return gain_resize_stall(job, state, job->from, nodes);
}

double gain_job_takes(const struct gain_job *job, const epop_policy_state_t *state, int nodes)
{
    return job->latency + gain_job_cost(job, state, nodes);
}

/* The ranges that count. */
static int ranges_of(const struct gain_job *job, const epop_policy_range_t *found[3])
{
    int count = 0;
    found[count++] = &job->job->range;
    if (job->job->phase_count > 0)
        found[count++] = &job->job->phases[0].range;
    if (job->ending)
        found[count++] = &job->job->phases[1].range;
    return count;
}

int gain_job_fit(const struct gain_job *job, int nodes)
{
    const epop_policy_range_t *found[3];
    return sizes_fit(found, ranges_of(job, found), nodes);
}

int gain_job_above(const struct gain_job *job, int nodes)
{
    const epop_policy_range_t *found[3];
    return sizes_from(found, ranges_of(job, found), nodes + 1);
}

/* The smallest size at which it was measured, and up to which its speedup is not made up; 0: it was not measured. */
static int least_measured(const epop_policy_job_t *job)
{
    int least = 0;
    for (int i = 0; i < job->sample_count; i++)
        if (sample_counts(job, i) && (!least || job->samples[i].nodes < least))
            least = job->samples[i].nodes;
    return least;
}

/* Without the nodes that bring too little, by an earlier job of the same program: what a growth has to bring, a start
 * has, too. */
static int worthwhile_size(const struct gain_job *job, int most, double marginal)
{
    int least = least_measured(job->job), size = most;
    while (least && size > least) {
        int less = gain_job_fit(job, size - (size / 8 > 1 ? size / 8 : 1));
        if (less < least ||
            gain_speedup(&job->model, size) - gain_speedup(&job->model, less) >= marginal * (size - less))
            break;
        size = less;
    }
    return size;
}

/* A phase that takes other sizes only is no reason to wait, nor one that keeps a job small that cannot grow later. */
static int top_of(const struct gain_job *job, double marginal)
{
    int wanted = job->job->wanted, fit = gain_job_grows(job->job) ? gain_job_fit(job, wanted) : 0;
    if (fit <= 0)
        fit = epop_policy_fit(&job->job->range, wanted);
    if (fit > 0 && job->job->state == EPOP_POLICY_WAITS && gain_job_flexible(job->job))
        fit = worthwhile_size(job, fit, marginal);
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
static double seconds_bound(const struct gain_job *job, const epop_policy_state_t *state,
                            const struct gain_options *options)
{
    double stay = fmax(options->stay, options->stay_costs * gain_job_cost(job, state, job->nodes));
    double seconds = job->job->resized + stay - state->now;
    return seconds > 1e-6 ? seconds : 0;
}

double gain_job_weight(const epop_policy_job_t *job)
{
    return 1 / fmax(job->limit > 0 ? job->limit : gain_job_left(job), 10);
}

#define HASTE 10 /* a second counts so many times as much */

double gain_job_haste(const struct gain_job *job, double seconds)
{
    return job->until > 0 && seconds > job->until ? HASTE * job->weight : job->weight;
}

/* At its largest size it would meet it, by what is known of its speedup; with weak scaling it ends when it ends. */
static double seconds_to_deadline(const struct gain_job *job, const epop_policy_state_t *state)
{
    double until = job->job->deadline - state->now;
    int most = gain_job_fit(job, state->node_count - state->down);
    return !job->job->weak && until > 0 && most > 0 && gain_job_seconds(job, most) <= until ? until : 0;
}

double gain_job_at_most(const struct gain_job *job, int nodes)
{
    double left = gain_job_left(job->job);
    return nodes < job->job->wanted ? left * job->job->wanted / nodes : left;
}

double gain_job_speed(const struct gain_job *job, int nodes)
{
    return gain_speedup(&job->model, nodes < job->useful ? nodes : job->useful);
}

struct gain_job gain_job_of(const epop_policy_job_t *job, const epop_policy_state_t *state,
                            const struct gain_options *options)
{
    struct gain_job made = {.job = job, .model = gain_model_fit(job, options->efficiency, options->fits)};
    made.useful = job->weak ? job->wanted : INT_MAX;
    made.usual = usual_cost_by_rule(job, state);
    made.weight = gain_job_weight(job);
    made.from = job->nodes;
    made.top = top_of(&made, options->marginal);
    gain_job_set(&made, job->state == EPOP_POLICY_WAITS ? made.top : job->target);
    int at = job->state == EPOP_POLICY_WAITS ? job->wanted : job->nodes;
    made.work = gain_job_left(job) * gain_job_speed(&made, at);
    made.latency = known_or(job->resize_latency, 1);
    made.bound = could_move(job) ? seconds_bound(&made, state, options) : 0;
    made.movable = could_move(job) && made.bound <= 0;
    made.near = fmax(options->ahead, 2 * (made.latency + gain_job_cost(&made, state, job->nodes)));
    made.ending = job->phase_count > 1 && job->phases[1].begins >= 0 && job->phases[1].begins <= made.near;
    made.least = gain_job_above(&made, 0);
    made.until = job->deadline > 0 ? seconds_to_deadline(&made, state) : 0;
    return made;
}

const char *gain_job_brings(const struct gain_job *job)
{
    return job->job->weak ? "the work" : "as fast";
}

void gain_job_set(struct gain_job *job, int nodes)
{
    job->nodes = nodes;
    job->speed = gain_job_speed(job, nodes > 0 ? nodes : 1);
}

double gain_job_seconds(const struct gain_job *job, int nodes)
{
    return job->work / gain_job_speed(job, nodes);
}

double gain_job_slower(const struct gain_job *job, int nodes)
{
    const epop_policy_job_t *of = job->job;
    int below = 0, above = INT_MAX;
    for (int i = 0; i < of->sample_count; i++) {
        int at = of->samples[i].nodes;
        if (!sample_counts(of, i))
            continue;
        below = at <= nodes && at > below ? at : below;
        above = at >= nodes && at < above ? at : above;
    }
    double speed = gain_job_speed(job, nodes);
    double slower = below > 0 ? speed / gain_job_speed(job, below) : INFINITY;
    if (above < INT_MAX)
        slower = fmin(slower, speed / gain_job_speed(job, above) * above / nodes);
    return isfinite(slower) ? fmax(slower, 1) : 1;
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
