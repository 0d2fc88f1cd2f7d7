/* Large schedules are cut down here: a page shows the largest stays, the jobs that fared worst, and means over time. */
#include "report/view.h"

#include <stdbool.h>
#include <stdint.h>

#include "report/curves.h"
#include "report/tables.h"

const struct view_limits view_page = {
    .stays = 2400, .jobs = 400, .decisions = 2000, .events = 600, .points = 1200, .rows = 64};
const struct view_limits view_all = {
    .stays = SIZE_MAX, .jobs = SIZE_MAX, .decisions = SIZE_MAX, .events = SIZE_MAX, .points = SIZE_MAX, .rows = 64};

static bool add_copy(cJSON *json, const char *key, const cJSON *object)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    cJSON *copy = item ? cJSON_Duplicate(item, 1) : cJSON_CreateNull();
    if (copy && cJSON_AddItemToObject(json, key, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

static bool add_run(cJSON *list, const struct schedule *schedule, const struct schedule_run *run,
                    const struct view_limits *limits)
{
    cJSON *json = cJSON_CreateObject();
    struct ranking ranking;
    bool done =
        ranking_make(&ranking, run) == 0 && cJSON_AddStringToObject(json, "policy", run->policy) &&
        cJSON_AddStringToObject(json, "options", run->options) && add_copy(json, "metrics", run->json) &&
        cJSON_AddNumberToObject(json, "count", (double)run->job_count) &&
        tables_add_stays(json, schedule, run, limits->stays, limits->rows) &&
        tables_add_jobs(json, &ranking, limits->jobs) && tables_add_decisions(json, run, &ranking, limits->decisions) &&
        tables_add_events(json, run, limits->events) && curves_add_waiting(json, schedule, run, limits->points) &&
        curves_add_held(json, schedule, run, limits->points) && curves_add_slowdowns(json, &ranking, limits->points);
    ranking_free(&ranking);
    if (done && cJSON_AddItemToArray(list, json))
        return true;
    cJSON_Delete(json);
    return false;
}

/* What a run may have of it; at least something. */
static size_t part(size_t limit, size_t runs)
{
    return limit == SIZE_MAX ? limit : limit / runs + 1;
}

static struct view_limits limits_of_run(const struct view_limits *limits, size_t runs)
{
    struct view_limits own = *limits;
    own.stays = part(limits->stays, runs);
    own.jobs = part(limits->jobs, runs);
    own.decisions = part(limits->decisions, runs);
    own.events = part(limits->events, runs);
    own.points = part(limits->points, runs);
    own.rows = runs > 2 ? limits->rows / 2 : limits->rows;
    return own;
}

cJSON *view_of(const struct schedule *schedule, const struct view_limits *limits)
{
    const struct view_limits own = limits_of_run(limits, schedule->run_count);
    cJSON *json = cJSON_CreateObject(), *view = cJSON_AddObjectToObject(json, "schedule");
    bool done = cJSON_AddNumberToObject(view, "begin", schedule->begin) &&
                cJSON_AddNumberToObject(view, "end", schedule->end) && add_copy(view, "program", schedule->json) &&
                add_copy(view, "workload", schedule->json) && add_copy(view, "machine", schedule->json) &&
                add_copy(view, "options", schedule->json);
    cJSON *runs = cJSON_AddArrayToObject(view, "runs");
    for (size_t i = 0; done && i < schedule->run_count; i++)
        done = add_run(runs, schedule, &schedule->runs[i], &own);
    if (done)
        return json;
    cJSON_Delete(json);
    return NULL;
}
