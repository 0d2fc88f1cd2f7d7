/* What is left out of large schedules: small stays, jobs that fared well and the decisions about them, late events. */
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>

#include "report/gantt.h"
#include "report/rows.h"

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

bool tables_add_stays(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most,
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

/* The share is that of the jobs whose slowdown is not larger. */
static void add_job(struct rows *rows, const struct schedule_job *job, double share)
{
    static const char *const before[] = {"user", "kind", "submit", "wait"}, *const after[] = {"resizes", "outcome"};
    rows_next(rows);
    rows_number(rows, job->id);
    rows_text(rows, job->name);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        rows_member(rows, job->json, before[i]);
    rows_number(rows, job->slowdown);
    rows_number(rows, share);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        rows_member(rows, job->json, after[i]);
}

bool tables_add_jobs(cJSON *json, const struct ranking *ranking, size_t most)
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

bool tables_add_decisions(cJSON *json, const struct schedule_run *run, const struct ranking *ranking, size_t most)
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

bool tables_add_events(cJSON *json, const struct schedule_run *run, size_t most)
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
