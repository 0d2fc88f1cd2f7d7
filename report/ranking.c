/* Equal jobs are in the order of their ids, so that a report is the same each time. */
#include "report/ranking.h"

#include <math.h>
#include <stdlib.h>

static int by_slowdown(const void *a, const void *b)
{
    const struct schedule_job *left = *(const struct schedule_job *const *)a;
    const struct schedule_job *right = *(const struct schedule_job *const *)b;
    if (isnan(left->slowdown) != isnan(right->slowdown))
        return isnan(left->slowdown) ? 1 : -1;
    if (!isnan(left->slowdown) && left->slowdown != right->slowdown)
        return left->slowdown < right->slowdown ? 1 : -1;
    return (left->id > right->id) - (left->id < right->id);
}

int ranking_make(struct ranking *ranking, const struct schedule_run *run)
{
    *ranking = (struct ranking){.jobs = calloc(run->job_count + 1, sizeof *ranking->jobs), .count = run->job_count};
    if (!ranking->jobs)
        return -1;
    for (size_t i = 0; i < run->job_count; i++) {
        ranking->jobs[i] = &run->jobs[i];
        ranking->known += !isnan(run->jobs[i].slowdown);
    }
    qsort(ranking->jobs, ranking->count, sizeof *ranking->jobs, by_slowdown);
    return 0;
}

void ranking_free(struct ranking *ranking)
{
    free(ranking->jobs);
    *ranking = (struct ranking){0};
}
