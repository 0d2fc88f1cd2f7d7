/* Least squares of relative errors: an iteration of a millisecond counts as one of an hour. */
#include "scheduler/policies/gain_model.h"

#include <math.h>

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

static int counts(const epop_policy_job_t *job, int i)
{
    const epop_policy_sample_t *sample = &job->samples[i];
    return sample->phase == job->phase && sample->nodes > 0 && sample->seconds > 0 && sample->iterations > 0;
}

/* seconds = serial + parallel / nodes, by the normal equations. */
static struct gain_model fit_amdahl(const epop_policy_job_t *job)
{
    double a = 0, b = 0, c = 0, d = 0, e = 0;
    for (int i = 0; i < job->sample_count; i++) {
        if (!counts(job, i))
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
        if (!counts(job, i))
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

/* The share at which Amdahl's law has that efficiency at so many nodes. */
static double share_of(double efficiency, int nodes)
{
    return clamp((1 / efficiency - 1) / (nodes > 1 ? nodes - 1 : 1), 0, 1);
}

struct gain_model gain_model_fit(const epop_policy_job_t *job, double efficiency)
{
    struct gain_model model = {.share = share_of(efficiency, job->wanted), .source = GAIN_ASSUMED};
    int sizes = 0;
    for (int i = 0; i < job->sample_count; i++) {
        const epop_policy_sample_t *sample = &job->samples[i];
        if (!counts(job, i))
            continue;
        sizes++;
        /* What is not computed is in MPI: the time of n nodes is 1 + MTCT times that of n nodes without loss. */
        if (sample->nodes > 1 && sample->mtct >= 0)
            model =
                (struct gain_model){.share = share_of(1 / (1 + sample->mtct), sample->nodes), .source = GAIN_FROM_MTCT};
    }
    if (sizes > 1)
        model = fit_amdahl(job);
    return sizes > 2 ? fit_downey(job, model) : model;
}
