/* Too many changes for a curve become means; too many jobs, quantiles. */
#include "report/curves.h"

#include <math.h>
#include <string.h>

#include "report/rows.h"
#include "report/steps.h"

/* Seven digits are more than a mean needs. */
static double tidy(double value)
{
    double scale = value != 0 ? pow(10, 6 - floor(log10(fabs(value)))) : 1;
    return round(value * scale) / scale;
}

static bool add_points(cJSON *run, const char *key, struct steps *steps, const struct schedule *schedule, size_t most)
{
    steps_sum(steps);
    steps_thin(steps, schedule->begin, schedule->end, most);
    cJSON *json = cJSON_AddObjectToObject(run, key);
    struct rows rows = rows_begin(json, "points");
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows_next(&rows);
        rows_number(&rows, steps->thinned > 0 ? tidy(step->time) : step->time);
        rows_number(&rows, tidy(step->jobs));
        rows_number(&rows, tidy(step->nodes));
    }
    return cJSON_AddNumberToObject(json, "mean", steps->thinned) &&
           cJSON_AddNumberToObject(json, "most_jobs", steps->most_jobs) &&
           cJSON_AddNumberToObject(json, "most_nodes", steps->most_nodes) && !rows.failed && !steps->failed;
}

/* A job waits from its submission on, whenever it has no nodes: also after it was stopped and put back. */
static void add_waits(struct steps *steps, const struct schedule_job *job, double end)
{
    double since = job->submit;
    for (size_t i = 0; i < job->stay_count; i++) {
        steps_add(steps, since, job->stays[i].begin, job->wanted);
        since = job->stays[i].end;
    }
    if (!job->stay_count || !strcmp(job->outcome, "never") || !strcmp(job->outcome, "waiting"))
        steps_add(steps, since, isnan(job->end) || job->end < since ? end : job->end, job->wanted);
}

bool curves_add_waiting(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most)
{
    struct steps steps = {0};
    for (size_t i = 0; i < run->job_count; i++)
        add_waits(&steps, &run->jobs[i], schedule->end);
    bool done = add_points(json, "waiting", &steps, schedule, most);
    steps_free(&steps);
    return done;
}

bool curves_add_held(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most)
{
    struct steps steps = {0};
    for (size_t i = 0; i < run->job_count; i++)
        for (size_t j = 0; j < run->jobs[i].stay_count; j++) {
            const struct schedule_stay *stay = &run->jobs[i].stays[j];
            steps_add(&steps, stay->begin, stay->end, stay->size);
        }
    bool done = add_points(json, "held", &steps, schedule, most);
    steps_free(&steps);
    return done;
}

bool curves_add_slowdowns(cJSON *json, const struct ranking *ranking, size_t most)
{
    struct rows rows = rows_begin(json, "slowdowns");
    size_t known = ranking->known, points = known < most ? known : most;
    for (size_t i = 1; i <= points; i++) {
        size_t rank = (size_t)ceil((double)i * (double)known / (double)points);
        rows_next(&rows);
        rows_number(&rows, ranking->jobs[known - rank]->slowdown);
        rows_number(&rows, (double)rank / (double)known);
    }
    if (!known)
        return !rows.failed;
    return cJSON_AddNumberToObject(json, "median_slowdown", ranking->jobs[known - (known + 1) / 2]->slowdown) &&
           !rows.failed;
}
