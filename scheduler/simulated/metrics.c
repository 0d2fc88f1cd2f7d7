/* Figures of a run: see metrics.h. */
#include "scheduler/simulated/metrics.h"

#include <math.h>
#include <stdlib.h>

static const double tau = 10; /* seconds: a job is not slowed down for having been short */

double job_wait(const struct job_record *job)
{
    return job->start - job->work->submit;
}

double job_slowdown(const struct job_record *job)
{
    double slowdown = (job->end - job->work->submit) / fmax(work_seconds(job->work, job->work->wanted), tau);
    return slowdown > 1 ? slowdown : 1;
}

struct slowdown {
    int user;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct slowdown *)a)->value, y = ((const struct slowdown *)b)->value;
    return (x > y) - (x < y);
}

static int by_user(const void *a, const void *b)
{
    int x = ((const struct slowdown *)a)->user, y = ((const struct slowdown *)b)->user;
    return x != y ? (x > y) - (x < y) : by_value(a, b);
}

/* Largest mean of a user over the mean of these means. */
static double spread(struct slowdown *slowdowns, size_t count)
{
    double largest = 0, sum = 0;
    size_t users = 0;
    qsort(slowdowns, count, sizeof *slowdowns, by_user);
    for (size_t i = 0, end; i < count; i = end) {
        double total = 0;
        for (end = i; end < count && slowdowns[end].user == slowdowns[i].user; end++)
            total += slowdowns[end].value;
        largest = fmax(largest, total / (double)(end - i));
        sum += total / (double)(end - i);
        users++;
    }
    return users ? largest * (double)users / sum : 0;
}

static void slowdowns(struct metrics *metrics, struct slowdown *values, size_t count)
{
    if (!count)
        return;
    qsort(values, count, sizeof *values, by_value);
    metrics->p95_slowdown = values[(count * 95 + 99) / 100 - 1].value;
    metrics->max_slowdown = values[count - 1].value;
    for (size_t i = 0; i < count; i++)
        metrics->mean_slowdown += values[i].value / (double)count;
    metrics->user_slowdown_spread = spread(values, count);
}

/* Of all jobs that are done: sums, for now. */
static size_t add_up(struct metrics *metrics, const struct schedule *schedule, struct slowdown *values, double *work)
{
    size_t count = 0;
    for (const struct job_record *job = schedule->jobs; job < schedule->jobs + schedule->job_count; job++) {
        metrics->resizes += job->resizes;
        if (job->outcome != OUTCOME_DONE)
            continue;
        metrics->mean_wait += job_wait(job);
        metrics->max_wait = fmax(metrics->max_wait, job_wait(job));
        metrics->mean_response += job->end - job->work->submit;
        metrics->makespan = fmax(metrics->makespan, job->end - schedule->jobs[0].work->submit);
        *work += work_seconds(job->work, 1);
        values[count++] = (struct slowdown){job->work->user, job_slowdown(job)};
    }
    return count;
}

int metrics_sum(struct schedule *schedule, const struct workload *workload, double node_seconds, struct error *error)
{
    struct metrics *metrics = &schedule->metrics;
    struct slowdown *values = malloc((schedule->job_count + 1) * sizeof *values);
    double work = 0;
    if (!values)
        return error_memory(error);
    size_t done = add_up(metrics, schedule, values, &work);
    slowdowns(metrics, values, done);
    free(values);
    metrics->jobs = (int)schedule->job_count;
    metrics->done = (int)done;
    metrics->mean_wait /= done ? (double)done : 1;
    metrics->mean_response /= done ? (double)done : 1;
    metrics->utilisation = metrics->makespan > 0 ? node_seconds / (workload->nodes * metrics->makespan) : 0;
    metrics->efficiency = node_seconds > 0 ? work / node_seconds : 0;
    return 0;
}
