/*
 * Makes the JSON for the charts of a schedule. Large schedules are cut down: a page shows the largest stays, the jobs
 * that fared worst, and means over time.
 */
#include "report/view.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/gantt.h"
#include "report/steps.h"

/* ---- Jobs by how they fared: the largest bounded slowdown first, then those that have none ------ */

struct ranking {
    const struct schedule_job **jobs; /* all of the run's */
    size_t count, known;              /* known: so many have a slowdown */
};

/* Equal jobs are in the order of their ids, so that a report is the same each time. */

static int job_by_slowdown(const void *a, const void *b)
{
    const struct schedule_job *left = *(const struct schedule_job *const *)a;
    const struct schedule_job *right = *(const struct schedule_job *const *)b;
    if (isnan(left->slowdown) != isnan(right->slowdown))
        return isnan(left->slowdown) ? 1 : -1;
    if (!isnan(left->slowdown) && left->slowdown != right->slowdown)
        return left->slowdown < right->slowdown ? 1 : -1;
    return (left->id > right->id) - (left->id < right->id);
}

/* 0, or -1: no memory. */
static int ranking_make(struct ranking *ranking, const struct schedule_run *run)
{
    *ranking = (struct ranking){.jobs = calloc(run->job_count + 1, sizeof *ranking->jobs), .count = run->job_count};
    if (!ranking->jobs)
        return -1;
    for (size_t i = 0; i < run->job_count; i++) {
        ranking->jobs[i] = &run->jobs[i];
        ranking->known += !isnan(run->jobs[i].slowdown);
    }
    qsort(ranking->jobs, ranking->count, sizeof *ranking->jobs, job_by_slowdown);
    return 0;
}

static void ranking_free(struct ranking *ranking)
{
    free(ranking->jobs);
    *ranking = (struct ranking){0};
}

/* ---- A table: a list of rows, each a list of cells; a lack of memory is remembered -------------- */

struct rows {
    cJSON *list, *row;
    bool failed;
};

/* cJSON takes no part of what failed: it is deleted here. */

static void rows_add(struct rows *rows, cJSON *list, cJSON *item)
{
    if (item && cJSON_AddItemToArray(list, item))
        return;
    cJSON_Delete(item);
    rows->failed = true;
}

/* The list becomes a member of the object. */
static struct rows rows_begin(cJSON *object, const char *key)
{
    struct rows rows = {.list = cJSON_AddArrayToObject(object, key)};
    rows.failed = !rows.list;
    return rows;
}

/* Cells that follow are those of a new row. */
static void rows_next(struct rows *rows)
{
    rows->row = cJSON_CreateArray();
    if (rows->row && cJSON_AddItemToArray(rows->list, rows->row))
        return;
    cJSON_Delete(rows->row);
    rows->row = NULL;
    rows->failed = true;
}

/* null for NAN. */
static void rows_number(struct rows *rows, double value)
{
    rows_add(rows, rows->row, isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(value));
}

/* null for NULL. */
static void rows_text(struct rows *rows, const char *text)
{
    rows_add(rows, rows->row, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

/* A copy of the object's member, null where there is none. */
static void rows_member(struct rows *rows, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    rows_add(rows, rows->row, item ? cJSON_Duplicate(item, 0) : cJSON_CreateNull());
}

/* ---- Tables of a run: stays, jobs, decisions, events -------------------------------------------- */

/* Each becomes a member of the object, with `most` rows at most; how many were left out, the member NAME_left says.
 * Left out are small stays, jobs that fared well and the decisions about them, and late events. false: no memory. */

static void add_stay(struct rows *rows, const struct schedule_job *job, const struct schedule_stay *stay)
{
    bool is_last = stay == &job->stays[job->stay_count - 1];
    rows_next(rows);
    rows_number(rows, job->id);
    rows_text(rows, job->name);
    rows_text(rows, job->kind);
    rows_number(rows, stay->begin);
    rows_number(rows, stay->end);
    rows_number(rows, stay->size);
    rows_text(rows, is_last ? job->outcome : NULL);
    rows_text(rows, stay->reason);
    rows_text(rows, stay->nodes);
}

/* A text for each row, a digit for each column. */
static bool add_picture(cJSON *json, const struct gantt *gantt)
{
    cJSON *picture = cJSON_AddArrayToObject(json, "picture");
    char text[GANTT_COLUMNS + 1] = "";
    bool failed = !picture;
    for (int row = 0; row < gantt->rows && !failed; row++) {
        for (int column = 0; column < GANTT_COLUMNS; column++)
            text[column] = (char)('0' + gantt_level(gantt, row, column));
        failed = !cJSON_AddItemToArray(picture, cJSON_CreateString(text));
    }
    return !failed;
}

/* "stays", by begin: [job, name, kind, begin, end, size, outcome, reason, nodes]; `most` counts ranges of nodes. And
 * "picture", of those that are left out: a text for each row, a digit for each column: how much of the nodes
 * they held there. */
static bool tables_add_stays(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most,
                             int rows)
{
    struct gantt gantt;
    if (gantt_choose(&gantt, schedule, run, most, rows) != 0)
        return false;
    struct rows table = rows_begin(json, "stays");
    for (size_t i = 0; i < gantt.count; i++)
        add_stay(&table, gantt.shown[i].job, gantt.shown[i].stay);
    bool done = cJSON_AddNumberToObject(json, "stays_left", (double)gantt.left_out) && add_picture(json, &gantt);
    gantt_free(&gantt);
    return done && !table.failed;
}

/* The share is that of the jobs whose slowdown is not larger. An account stands in the place of the user. */
static void add_job(struct rows *rows, const struct schedule_job *job, double share)
{
    static const char *const before[] = {"kind", "submit", "wait"}, *const after[] = {"resizes", "outcome", "joules"};
    rows_next(rows);
    rows_number(rows, job->id);
    rows_text(rows, job->name);
    rows_member(rows, job->json, cJSON_HasObjectItem(job->json, "account") ? "account" : "user");
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        rows_member(rows, job->json, before[i]);
    rows_number(rows, job->slowdown);
    rows_number(rows, share);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        rows_member(rows, job->json, after[i]);
}

/* "jobs", as they are ranked: [job, name, user, kind, submit, wait, slowdown, share, resizes, outcome, joules] */
static bool tables_add_jobs(cJSON *json, const struct ranking *ranking, size_t most)
{
    struct rows rows = rows_begin(json, "jobs");
    size_t known = ranking->known, shown = ranking->count < most ? ranking->count : most;
    for (size_t i = 0; i < shown; i++)
        add_job(&rows, ranking->jobs[i], i < known ? (double)(known - i) / (double)known : NAN);
    return cJSON_AddNumberToObject(json, "jobs_left", (double)(ranking->count - shown)) && !rows.failed;
}

static void add_decision(struct rows *rows, const struct schedule_decision *decision, const struct schedule_job *job)
{
    static const char *const members[] = {"from", "to", "at", "reason", "nodes"};
    rows_next(rows);
    rows_number(rows, decision->time);
    rows_text(rows, decision->kind);
    rows_number(rows, decision->job);
    rows_text(rows, job->name);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        rows_member(rows, decision->json, members[i]);
}

/* Marks the jobs whose decisions are shown: from the largest slowdown on, all of a job or none. */
static void choose_decisions(const struct schedule_run *run, const struct ranking *ranking, bool *is_shown,
                             size_t *counts, size_t most)
{
    for (size_t i = 0; i < run->decision_count; i++)
        counts[schedule_job(run, run->decisions[i].job) - run->jobs]++;
    for (size_t i = 0, sum = 0; i < run->job_count; i++) {
        size_t index = (size_t)(ranking->jobs[i] - run->jobs);
        is_shown[index] = sum + counts[index] <= most;
        sum += is_shown[index] ? counts[index] : 0;
    }
}

/* "decisions", by time: [time, kind, job, name, from, to, at, reason, nodes]; of the jobs that fared worst. */
static bool tables_add_decisions(cJSON *json, const struct schedule_run *run, const struct ranking *ranking,
                                 size_t most)
{
    bool *is_shown = calloc(run->job_count + 1, sizeof *is_shown);
    size_t *counts = calloc(run->job_count + 1, sizeof *counts), left = 0;
    struct rows rows = rows_begin(json, "decisions");
    bool done = is_shown && counts;
    if (done)
        choose_decisions(run, ranking, is_shown, counts, most);
    for (size_t i = 0; done && i < run->decision_count; i++) {
        const struct schedule_job *job = schedule_job(run, run->decisions[i].job);
        if (is_shown[job - run->jobs])
            add_decision(&rows, &run->decisions[i], job);
        else
            left++;
    }
    free(is_shown);
    free(counts);
    return done && !rows.failed && cJSON_AddNumberToObject(json, "decisions_left", (double)left);
}

/* "events": [time, text] */
static bool tables_add_events(cJSON *json, const struct schedule_run *run, size_t most)
{
    struct rows rows = rows_begin(json, "events");
    const cJSON *event;
    size_t seen = 0;
    cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(run->json, "events"))
    {
        if (seen++ >= most)
            continue;
        rows_next(&rows);
        rows_member(&rows, event, "time");
        rows_member(&rows, event, "text");
    }
    return cJSON_AddNumberToObject(json, "events_left", (double)(seen > most ? seen - most : 0)) && !rows.failed;
}

/* ---- Curves of a run: waiting jobs, held nodes, and the distribution of slowdown ---------------- */

/* Members of the object, of `most` points at most: too many changes become means, too many jobs quantiles. false: no
 * memory. */

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

/* "waiting" and "held": {"points": [[time, jobs, nodes]], "mean": seconds that each is the mean of, 0: it is exact,
 * "most_jobs", "most_nodes"} */
static bool curves_add_waiting(cJSON *json, const struct schedule *schedule, const struct schedule_run *run,
                               size_t most)
{
    struct steps steps = {0};
    for (size_t i = 0; i < run->job_count; i++)
        add_waits(&steps, &run->jobs[i], schedule->end);
    bool done = add_points(json, "waiting", &steps, schedule, most);
    steps_free(&steps);
    return done;
}

static bool curves_add_held(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most)
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

/* "slowdowns": [[slowdown, share of the jobs that have no larger one]], the smallest first; "median_slowdown" of all
 * jobs, if there is one: what half of them do not exceed */
static bool curves_add_slowdowns(cJSON *json, const struct ranking *ranking, size_t most)
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

/* ---- The runs of a schedule, bounded ------------------------------------------------------------ */

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
        add_copy(json, "accounts", run->json) && cJSON_AddNumberToObject(json, "count", (double)run->job_count) &&
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
static size_t part_of_limit(size_t limit, size_t runs)
{
    return limit == SIZE_MAX ? limit : limit / runs + 1;
}

static struct view_limits limits_of_run(const struct view_limits *limits, size_t runs)
{
    struct view_limits own = *limits;
    own.stays = part_of_limit(limits->stays, runs);
    own.jobs = part_of_limit(limits->jobs, runs);
    own.decisions = part_of_limit(limits->decisions, runs);
    own.events = part_of_limit(limits->events, runs);
    own.points = part_of_limit(limits->points, runs);
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
