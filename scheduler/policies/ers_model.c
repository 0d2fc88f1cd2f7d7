/* What the policy `ers` computes of jobs before it decides: sizes, ranges by MTCT, costs, and a common end. */
#include "scheduler/policies/ers_model.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/gain_model.h"

/* ---- Options ------------------------------------------------------------------------------------ */

const epop_policy_option_t ers_options[] = {
    {"upper", "0.1", "MTCT, or its trend, above which a job gives back half of its nodes"},
    {"lower", "0.01", "MTCT and trend below which a job may have up to twice its nodes"},
    {"period", "60", "seconds from one evaluation to the next; jobs are resized only then"},
    {"values", "3", "iterations at its present size before what was measured of a job counts"},
    {"worth", "10", "times the seconds of an adaptation that a job must have left, or a wait be shortened by"},
    {"balance", "yes", "running jobs are brought to a common end when an earlier job waits: yes, no"},
    {"fill", "yes", "idle nodes go to running jobs that stay efficient: yes, no"},
    {"start", "moldable", "with firm=0 a job that does not fit starts on fewer nodes (moldable), or waits (rigid)"},
    {"firm", "1", "1: jobs start as with gain, beside the schedule of EASY backfilling; 0: as published"},
    {"keep", "0.5", "as with gain: share of what EASY backfilling leaves idle that is kept for jobs that come"},
    {NULL, NULL, NULL},
};

static int set_number(double *number, const char *value, bool zero)
{
    double read;
    if (!gain_number(value, &read) || read < 0 || (read == 0 && !zero))
        return -1;
    *number = read;
    return 0;
}

static int set_word(bool *truth, const char *value, const char *yes, const char *no)
{
    if (strcmp(value, yes) && strcmp(value, no))
        return -1;
    *truth = !strcmp(value, yes);
    return 0;
}

int ers_settings_set(struct ers_settings *settings, const char *name, const char *value)
{
    if (!strcmp(name, "upper"))
        return set_number(&settings->upper, value, false);
    if (!strcmp(name, "lower"))
        return set_number(&settings->lower, value, true);
    if (!strcmp(name, "period"))
        return set_number(&settings->period, value, false);
    if (!strcmp(name, "values"))
        return set_number(&settings->values, value, true);
    if (!strcmp(name, "worth"))
        return set_number(&settings->worth, value, true);
    if (!strcmp(name, "balance"))
        return set_word(&settings->balance, value, "yes", "no");
    if (!strcmp(name, "fill"))
        return set_word(&settings->fill, value, "yes", "no");
    if (!strcmp(name, "start"))
        return set_word(&settings->moldable, value, "moldable", "rigid");
    if (!strcmp(name, "firm") || !strcmp(name, "keep"))
        return gain_options_set(settings->starts, name, value);
    return -1;
}

struct ers_settings *ers_settings_new(void)
{
    struct ers_settings *settings = calloc(1, sizeof *settings);
    if (settings && !(settings->starts = gain_options_new())) {
        free(settings);
        return NULL;
    }
    for (const epop_policy_option_t *option = ers_options; settings && option->name; option++)
        ers_settings_set(settings, option->name, option->value);
    return settings;
}

void ers_settings_free(struct ers_settings *settings)
{
    gain_options_free(settings->starts);
    free(settings);
}

/* ---- Sizes that a job can have ------------------------------------------------------------------ */

/* NULL: the element has no rule of its own. */
static const epop_policy_range_t *phase_range(const epop_policy_job_t *job)
{
    if (!job->phase_count || job->phases[0].range.max <= 0)
        return NULL;
    return &job->phases[0].range;
}

bool ers_is_elastic(const epop_policy_job_t *job)
{
    return job->kind >= EPOP_MALLEABLE && (!job->phase_count || job->phases[0].elastic);
}

int ers_fit(const epop_policy_job_t *job, int nodes)
{
    const epop_policy_range_t *phase = phase_range(job);
    while (nodes > 0) {
        int fit = epop_policy_fit(&job->range, nodes);
        nodes = phase && fit > 0 ? epop_policy_fit(phase, fit) : fit;
        if (nodes == fit)
            return nodes;
    }
    return 0;
}

static bool accepts_size(const epop_policy_job_t *job, int nodes)
{
    return ers_fit(job, nodes) == nodes;
}

/* The first that the job accepts of the sizes of one range. */
static int first_accepted(const epop_policy_job_t *job, const epop_policy_range_t *range)
{
    if (!range->count)
        return range->min > 0 && accepts_size(job, range->min) ? range->min : 0;
    for (int i = 0; i < range->count; i++) {
        if (accepts_size(job, range->sizes[i]))
            return range->sizes[i];
    }
    return 0;
}

/* Without a list on either side the larger of the two minima is the least. */
int ers_least(const epop_policy_job_t *job)
{
    const epop_policy_range_t *phase = phase_range(job);
    if (!phase || job->range.count)
        return first_accepted(job, &job->range);
    if (phase->count)
        return first_accepted(job, phase);
    return first_accepted(job, phase->min > job->range.min ? phase : &job->range);
}

static bool is_above_band(const struct ers_settings *settings, const epop_policy_sample_t *sample)
{
    return sample->mtct > settings->upper || sample->trend > settings->upper;
}

static bool is_of_present(const struct ers_settings *settings, const epop_policy_job_t *job,
                          const epop_policy_sample_t *sample)
{
    return sample->phase == job->phase && sample->iterations >= settings->values;
}

/* The largest size up to `most` that is not known to be inefficient. */
static int known_limit(const struct ers_settings *settings, const epop_policy_job_t *job, int most)
{
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        bool counts = is_of_present(settings, job, sample);
        if (counts && sample->nodes > job->nodes && sample->nodes <= most && is_above_band(settings, sample))
            most = sample->nodes - 1;
    }
    return most;
}

/* The largest measured and accepted one up to `most` that was efficient; 0: there is none. */
static int proved_size(const struct ers_settings *settings, const epop_policy_job_t *job, int most)
{
    int best = 0;
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        bool counts = is_of_present(settings, job, sample) && sample->mtct >= 0 && !is_above_band(settings, sample);
        if (counts && sample->nodes > best && sample->nodes <= most && accepts_size(job, sample->nodes))
            best = sample->nodes;
    }
    return best;
}

/* Where nothing smaller was measured it is half, as of a job that runs. */
static int efficient_size(const struct ers_settings *settings, const epop_policy_job_t *job, int wanted)
{
    int limit = known_limit(settings, job, wanted);
    if (limit == wanted)
        return wanted;
    int proved = proved_size(settings, job, limit), half = ers_fit(job, (limit + 1) / 2);
    int best = proved > 0 ? proved : half;
    return best > 0 ? best : ers_least(job);
}

int ers_wanted(const struct ers_settings *settings, const epop_policy_job_t *job)
{
    if (job->kind == EPOP_RIGID)
        return job->wanted;
    int fit = ers_fit(job, job->wanted);
    if (fit <= 0)
        return ers_least(job);
    return job->state == EPOP_POLICY_WAITS ? efficient_size(settings, job, fit) : fit;
}

int ers_size_on(const struct ers_settings *settings, const epop_policy_job_t *job, int nodes)
{
    int wanted = ers_wanted(settings, job);
    if (wanted <= nodes)
        return wanted;
    return settings->moldable && job->kind != EPOP_RIGID ? ers_fit(job, nodes) : 0;
}

double ers_work(const epop_policy_job_t *job)
{
    return (job->left > 0 ? job->left : job->limit) * job->wanted;
}

/* ---- The resource range vector ------------------------------------------------------------------ */

/*
 * What was measured at other sizes is no part of the average, but it is remembered: a job does not grow again to a size
 * at which it was above the upper threshold.
 */

/* Averages begin anew with a resize, so one that took longer than the time since then is of an earlier stay at this
 * size. Twice the time, as its seconds are measured, not exact. */
static bool is_recent(const epop_policy_job_t *job, const epop_policy_sample_t *sample, double now)
{
    return sample->iterations * sample->seconds <= 2 * (now - job->resized);
}

static const epop_policy_sample_t *sample_of(const struct ers_settings *settings, const epop_policy_job_t *job,
                                             double now)
{
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        if (sample->phase != job->phase || sample->nodes != job->nodes)
            continue;
        bool counts = sample->mtct >= 0 && sample->iterations >= settings->values && is_recent(job, sample, now);
        return counts ? sample : NULL;
    }
    return NULL;
}

static int half_size(const epop_policy_job_t *job)
{
    int half = ers_fit(job, job->nodes / 2);
    return half > 0 ? half : ers_least(job);
}

/* What the program asks for comes before what was measured. */
static struct ers_range asked_range(const epop_policy_job_t *job)
{
    int fit = ers_fit(job, job->asked);
    int size = fit > 0 ? fit : ers_least(job);
    if (size <= 0 || size == job->nodes)
        return (struct ers_range){.verdict = ERS_STAYS, .low = job->nodes, .high = job->nodes};
    if (size < job->nodes)
        return (struct ers_range){.verdict = ERS_REDUCED, .low = size, .high = size};
    return (struct ers_range){.verdict = ERS_FREE, .low = job->nodes, .high = size};
}

static bool is_below_band(const struct ers_settings *settings, const epop_policy_sample_t *sample)
{
    return sample->mtct < settings->lower && sample->trend < settings->lower;
}

/* Below the band: twice the nodes, or what its user wanted of one that started on fewer. In the band only the latter,
 * and nothing where it was reduced. */
static int largest_size(const struct ers_settings *settings, const epop_policy_job_t *job, bool is_below)
{
    int most = is_below && job->wanted < 2 * job->nodes ? 2 * job->nodes : job->wanted;
    int known = known_limit(settings, job, most);
    int fit = is_below || known == most ? ers_fit(job, known) : 0;
    return fit > job->nodes ? fit : job->nodes;
}

static struct ers_range measured_range(const struct ers_settings *settings, const epop_policy_job_t *job,
                                       const epop_policy_sample_t *sample)
{
    struct ers_range range = {.verdict = ERS_STAYS, .low = job->nodes, .high = job->nodes, .sample = sample};
    bool is_below = is_below_band(settings, sample), is_above = is_above_band(settings, sample);
    int half = half_size(job);
    if ((is_below || is_above) && half > 0 && half < job->nodes)
        range.low = half;
    range.high = is_above ? range.low : largest_size(settings, job, is_below);
    if (is_above && range.low < job->nodes)
        range.verdict = ERS_REDUCED;
    else if (range.low < range.high)
        range.verdict = ERS_FREE;
    return range;
}

struct ers_range ers_range_of(const struct ers_settings *settings, const epop_policy_job_t *job, double now)
{
    struct ers_range unknown = {.verdict = ERS_UNKNOWN, .low = job->nodes, .high = job->nodes};
    if (job->state != EPOP_POLICY_RUNS || !ers_is_elastic(job))
        return unknown;
    if (job->kind == EPOP_EVOLVING && job->asked > 0)
        return asked_range(job);
    const epop_policy_sample_t *sample = sample_of(settings, job, now);
    return sample ? measured_range(settings, job, sample) : unknown;
}

void ers_range_text(const struct ers_settings *settings, const epop_policy_job_t *job, const struct ers_range *range,
                    char *text, int size)
{
    const epop_policy_sample_t *sample = range->sample;
    if (!sample)
        snprintf(text, (size_t)size, "the program asks for %d nodes", job->asked);
    else if (range->verdict == ERS_FREE && !is_below_band(settings, sample))
        snprintf(text, (size_t)size, "MTCT %.2g below %g, started below the %d nodes wanted", sample->mtct,
                 settings->upper, job->wanted);
    else if (range->verdict == ERS_FREE)
        snprintf(text, (size_t)size, "MTCT %.2g below %g", sample->mtct, settings->lower);
    else if (sample->mtct > settings->upper)
        snprintf(text, (size_t)size, "MTCT %.2g above %g", sample->mtct, settings->upper);
    else
        snprintf(text, (size_t)size, "MTCT %.2g, its trend %.2g above %g", sample->mtct, sample->trend,
                 settings->upper);
}

/* The dearer of halving and doubling: a world of double the size, and data on half as many nodes. */
double ers_cost(const epop_policy_state_t *state, const epop_policy_job_t *job)
{
    if (job->resizes > 0 && (job->resize_latency > 0 || job->resize_cost > 0))
        return fmax(job->resize_latency, job->resize_cost);
    double bytes = fmax(job->bytes, 0) / fmax(job->nodes / 2.0, 1);
    return state->resize_base + state->resize_per_node * 2 * job->nodes + state->resize_per_byte * bytes;
}

/* ---- Time balancing ----------------------------------------------------------------------------- */

/*
 * In closed form. A job that would come below its low gets that, and the others share what remains;
 * then those above their high likewise. Each pass settles one job at least.
 */

static bool is_settled(const struct ers_share *share)
{
    return share->nodes > 0;
}

/* The common end of those that are not settled. */
static double common_end(const struct ers_share *shares, int count, double total)
{
    double work = 0;
    for (int i = 0; i < count; i++) {
        work += is_settled(&shares[i]) ? 0 : shares[i].work;
        total -= shares[i].nodes;
    }
    return work > 0 && total > 0 ? work / total : 0;
}

/* Settles who is out of its range at that end: below low, or above high. */
static bool settle_outside(struct ers_share *shares, int count, double end, bool below)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        struct ers_share *share = &shares[i];
        double nodes = end > 0 ? share->work / end : 0;
        if (is_settled(share) || (below ? nodes >= share->low : nodes <= share->high))
            continue;
        share->nodes = below ? share->low : share->high;
        any = true;
    }
    return any;
}

double ers_balance(struct ers_share *shares, int count, double total)
{
    double end;
    for (int i = 0; i < count; i++)
        shares[i].nodes = 0;
    do
        end = common_end(shares, count, total);
    while (settle_outside(shares, count, end, true));
    while (end > 0 && settle_outside(shares, count, end, false))
        end = common_end(shares, count, total);
    for (int i = 0; i < count; i++)
        shares[i].nodes = is_settled(&shares[i]) ? shares[i].nodes : shares[i].work / end;
    return end;
}
