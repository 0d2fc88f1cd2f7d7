/* A run as JSON: see schedule.h and schema/schedule.schema.json. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "scheduler/simulated/node_text.h"
#include "scheduler/simulated/schedule.h"

static bool add_number(cJSON *object, const char *name, double number)
{
    return cJSON_AddNumberToObject(object, name, number);
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return cJSON_AddStringToObject(object, name, text ? text : "");
}

/* `item` belongs to the array or object from now on, or is gone. */
static bool append(cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool attach(cJSON *object, const char *name, cJSON *item)
{
    if (item && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_nodes(cJSON *object, const int *nodes, int count)
{
    char *text = node_text(nodes, count);
    bool added = text && add_text(object, "nodes", text);
    free(text);
    return added;
}

/* ---- Metrics ------------------------------------------------------------------------------ */

cJSON *metrics_json(const struct metrics *m)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"makespan", m->makespan},
        {"mean_wait", m->mean_wait},
        {"max_wait", m->max_wait},
        {"mean_response", m->mean_response},
        {"mean_slowdown", m->mean_slowdown},
        {"p95_slowdown", m->p95_slowdown},
        {"max_slowdown", m->max_slowdown},
        {"utilisation", m->utilisation},
        {"efficiency", m->efficiency},
        {"user_slowdown_spread", m->user_slowdown_spread},
        {"joules", m->joules},
        {"peak_watts", m->peak_watts},
        {"jobs", m->jobs},
        {"done", m->done},
        {"resizes", m->resizes},
        {"grown", m->grown},
        {"shrunk", m->shrunk},
        {"refused", m->refused},
        {"backfilled", m->backfilled},
        {"requeues", m->requeues},
        {"stalled", m->stalled},
        {"decides", (double)m->decides},
    };
    cJSON *object = cJSON_CreateObject();
    bool whole = object;
    for (size_t i = 0; whole && i < sizeof figures / sizeof *figures; i++)
        whole = add_number(object, figures[i].name, figures[i].value);
    if (whole)
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* ---- Jobs --------------------------------------------------------------------------------- */

static cJSON *stay_json(const struct stay *stay)
{
    cJSON *array = cJSON_CreateArray();
    char *text = node_text(stay->nodes, stay->count);
    bool whole = array && text && append(array, cJSON_CreateNumber(stay->begin)) &&
                 append(array, cJSON_CreateNumber(stay->end)) && append(array, cJSON_CreateString(text));
    free(text);
    if (whole)
        return array;
    cJSON_Delete(array);
    return NULL;
}

static bool add_stays(cJSON *object, const struct job_record *job)
{
    cJSON *array = cJSON_AddArrayToObject(object, "stays");
    for (int i = 0; array && i < job->stay_count; i++)
        if (!append(array, stay_json(&job->stays[i])))
            return false;
    return array;
}

static bool add_work(cJSON *object, const struct work *work)
{
    static const char *const kinds[] = {"rigid", "moldable", "malleable", "evolving"};
    return add_number(object, "id", (double)work->id) && add_text(object, "name", work->name) &&
           add_number(object, "user", work->user) && add_text(object, "kind", kinds[work->kind]) &&
           add_number(object, "submit", work->submit) && add_number(object, "wanted", work->wanted) &&
           add_number(object, "min", work->range.min) && add_number(object, "max", work->range.max);
}

/* Of one that never started, there is no start, end, wait and slowdown; of one that runs, no end and slowdown. */
static bool add_course(cJSON *object, const struct job_record *job)
{
    static const char *const outcomes[] = {"done", "failed", "never", "running", "waiting"};
    bool ended = job->outcome == OUTCOME_DONE || job->outcome == OUTCOME_FAILED;
    bool started = ended || job->outcome == OUTCOME_RUNNING;
    return add_text(object, "outcome", outcomes[job->outcome]) &&
           (!started || (add_number(object, "start", job->start) && add_number(object, "wait", job_wait(job)))) &&
           (!ended || (add_number(object, "end", job->end) && add_number(object, "slowdown", job_slowdown(job)))) &&
           add_number(object, "resizes", job->resizes) && add_number(object, "requeues", job->requeues) &&
           add_number(object, "stalled", job->stalled) && add_stays(object, job);
}

static cJSON *job_json(const struct job_record *job)
{
    cJSON *object = cJSON_CreateObject();
    if (object && add_work(object, job->work) && add_course(object, job))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static cJSON *jobs_json(const struct schedule *schedule)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < schedule->job_count; i++)
        if (!append(array, job_json(&schedule->jobs[i]))) {
            cJSON_Delete(array);
            return NULL;
        }
    return array;
}

/* ---- Decisions, events -------------------------------------------------------------------- */

static bool add_decision(cJSON *object, const struct decision_record *record)
{
    static const char *const kinds[] = {"start", "resize", "reserve"};
    const struct decision *decision = &record->decision;
    return add_number(object, "time", record->time) && add_text(object, "kind", kinds[decision->kind]) &&
           add_number(object, "job", (double)decision->job) && add_number(object, "from", decision->from) &&
           add_number(object, "to", decision->to) && add_nodes(object, decision->nodes, decision->count) &&
           (decision->kind != DECISION_RESERVE || add_number(object, "at", decision->time)) &&
           add_text(object, "reason", decision->reason);
}

static cJSON *decisions_json(const struct schedule *schedule)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < schedule->decision_count; i++) {
        cJSON *object = cJSON_CreateObject();
        if (object && add_decision(object, &schedule->decisions[i]) && cJSON_AddItemToArray(array, object))
            continue;
        cJSON_Delete(object);
        cJSON_Delete(array);
        return NULL;
    }
    return array;
}

static cJSON *events_json(const struct schedule *schedule)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < schedule->event_count; i++) {
        cJSON *object = cJSON_CreateObject();
        if (object && add_number(object, "time", schedule->events[i].time) &&
            add_text(object, "text", schedule->events[i].text) && cJSON_AddItemToArray(array, object))
            continue;
        cJSON_Delete(object);
        cJSON_Delete(array);
        return NULL;
    }
    return array;
}

cJSON *schedule_json(const struct schedule *schedule)
{
    cJSON *object = cJSON_CreateObject();
    if (object && add_text(object, "policy", schedule->policy) &&
        add_text(object, "policy_options", schedule->options) &&
        attach(object, "metrics", metrics_json(&schedule->metrics)) && attach(object, "jobs", jobs_json(schedule)) &&
        attach(object, "decisions", decisions_json(schedule)) && attach(object, "events", events_json(schedule)))
        return object;
    cJSON_Delete(object);
    return NULL;
}
