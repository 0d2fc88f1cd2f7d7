/*
 * The SPMD-phase model and the resource range vector. What was measured at other sizes is no part of the average, but
 * it is remembered: a job does not grow again to a size at which it was above the upper threshold.
 */
#include "scheduler/policies/ers_model.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "scheduler/policies/ers_sizes.h"

static bool above(const struct ers_settings *settings, const epop_policy_sample_t *sample)
{
    return sample->mtct > settings->upper || sample->trend > settings->upper;
}

/* Averages begin anew with a resize. A sample from an earlier stay at this size took more time than has passed since;
 * twice that, as seconds are measured, too. */
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

/* The largest size up to `most` that is not known to be inefficient. */
static int known_limit(const struct ers_settings *settings, const epop_policy_job_t *job, int most)
{
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        bool counts = sample->phase == job->phase && sample->iterations >= settings->values;
        if (counts && sample->nodes > job->nodes && sample->nodes <= most && above(settings, sample))
            most = sample->nodes - 1;
    }
    return most;
}

static int half_of(const epop_policy_job_t *job)
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

static bool below(const struct ers_settings *settings, const epop_policy_sample_t *sample)
{
    return sample->mtct < settings->lower && sample->trend < settings->lower;
}

/* Below the band: twice the nodes, or what its user wanted of one that started on fewer. In the band only the latter,
 * and nothing where it was reduced. */
static int largest(const struct ers_settings *settings, const epop_policy_job_t *job, bool is_below)
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
    bool is_below = below(settings, sample), is_above = above(settings, sample);
    int half = half_of(job);
    if ((is_below || is_above) && half > 0 && half < job->nodes)
        range.low = half;
    range.high = is_above ? range.low : largest(settings, job, is_below);
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
    else if (range->verdict == ERS_FREE && !below(settings, sample))
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

/* Half or double the size, whichever is to come: the world is at most double, the data on at least half. */
double ers_cost(const epop_policy_state_t *state, const epop_policy_job_t *job)
{
    if (job->resizes > 0 && (job->resize_latency > 0 || job->resize_cost > 0))
        return fmax(job->resize_latency, job->resize_cost);
    double bytes = fmax(job->bytes, 0) / fmax(job->nodes / 2.0, 1);
    return state->resize_base + state->resize_per_node * 2 * job->nodes + state->resize_per_byte * bytes;
}
