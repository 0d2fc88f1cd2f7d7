/* The journal as JSON: see past.h. */
#include "scheduler/epoprm/past.h"

#include <stdio.h>

#include "scheduler/daemon/answers.h"
#include "scheduler/epoprm/place.h"

int past_open(struct journal **journal, struct error *error)
{
    char path[PLACE_MAX];
    *journal = NULL;
    return place_file(path, "journal.db", error) ? -1 : journal_open_reading(journal, path, error);
}

/* The array, or nothing of it. */
static cJSON *read_or_none(cJSON *array, int failed)
{
    if (!failed)
        return array;
    cJSON_Delete(array);
    return NULL;
}

struct jobs {
    cJSON *array;
    bool all;
};

static void add_end(cJSON *row, const struct journal_job *job)
{
    cJSON_AddNumberToObject(row, "ended", job->ended);
    cJSON_AddNumberToObject(row, "status", job->status);
}

static void take_job(void *to, const struct journal_job *job)
{
    const struct jobs *jobs = to;
    const struct daemon_job as_told = {.number = job->number,
                                       .name = job->name,
                                       .kind = job->kind,
                                       .state = job->state,
                                       .reason = job->reason,
                                       .ranks_min = job->ranks_min,
                                       .ranks_max = job->ranks_max,
                                       .nodes_min = job->nodes_min,
                                       .nodes_max = job->nodes_max,
                                       .hosts = "",
                                       .submitted = job->submitted,
                                       .started = job->started,
                                       .limit = job->limit,
                                       .left = -1,
                                       .reserved = -1};
    if (!jobs->all && job->ended < 0)
        return;
    cJSON *row = answers_job(&as_told);
    if (job->ended >= 0)
        add_end(row, job);
    cJSON_AddItemToArray(jobs->array, row);
}

cJSON *past_jobs(struct journal *journal, bool all, struct error *error)
{
    struct jobs jobs = {cJSON_CreateArray(), all};
    return read_or_none(jobs.array, journal_jobs(journal, true, take_job, &jobs, error));
}

static void take_event(void *to, const struct journal_event *event)
{
    cJSON_AddItemToArray(to, answers_event(event));
}

cJSON *past_events(struct journal *journal, int64_t job, int most, struct error *error)
{
    cJSON *array = cJSON_CreateArray();
    return read_or_none(array, journal_events(journal, job, most, take_event, array, error));
}

static void take_step(void *to, const struct journal_resize *resize)
{
    char job[32];
    snprintf(job, sizeof job, "%lld", (long long)resize->job);
    cJSON_AddStringToObject(to, job, journal_step_names[resize->step]);
}

cJSON *past_steps(struct journal *journal, struct error *error)
{
    cJSON *object = cJSON_CreateObject();
    return read_or_none(object, journal_resizes(journal, false, take_step, object, error));
}
