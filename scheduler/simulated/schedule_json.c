/* A schedule as JSON, written and read: the runs of schema/schedule.schema.json. */
#include "scheduler/simulated/schedule_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"

/* ---- Node numbers as text ----------------------------------------------------------------------- */

enum { NUMBER_MAX = 1 << 24 }; /* no machine has more nodes */

char *node_text(const int *nodes, int count)
{
    char *text = malloc((size_t)count * 12 + 1), *end = text;
    if (!text)
        return NULL;
    *end = 0;
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && nodes[last + 1] == nodes[last] + 1;)
            last++;
        end += sprintf(end, last > i ? "%s%d-%d" : "%s%d", i ? "," : "", nodes[i], nodes[last]);
    }
    return text;
}

static int read_number(const char **text, long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return -1;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number < NUMBER_MAX ? 0 : -1;
}

/* One number, or two with a hyphen. */
static int read_range(const char **text, long *first, long *last)
{
    if (read_number(text, first))
        return -1;
    *last = *first;
    if (**text != '-')
        return 0;
    ++*text;
    return read_number(text, last) || *last < *first ? -1 : 0;
}

static int append_range(int **nodes, size_t *room, int *count, long first, long last)
{
    if (array_reserve(nodes, room, (size_t)(*count + last - first + 1), sizeof **nodes))
        return -2;
    while (first <= last)
        (*nodes)[(*count)++] = (int)first++;
    return 0;
}

int node_numbers(const char *text, int **nodes)
{
    size_t room = 0;
    int count = 0, failed = 0;
    long first, last = -1;
    *nodes = NULL;
    while (*text && !failed) {
        long before = last;
        failed =
            read_range(&text, &first, &last) || first <= before ? -1 : append_range(nodes, &room, &count, first, last);
        if (!failed && *text)
            failed = *text++ == ',' && *text ? 0 : -1;
    }
    if (!failed)
        return count;
    free(*nodes);
    *nodes = NULL;
    return failed;
}

/* ---- Writing values ----------------------------------------------------------------------------- */

static bool add_number(cJSON *object, const char *name, double number)
{
    return cJSON_AddNumberToObject(object, name, number);
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return cJSON_AddStringToObject(object, name, text ? text : "");
}

/* `item` belongs to the array or object from now on, or is gone. */
static bool append_item(cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool attach_item(cJSON *object, const char *name, cJSON *item)
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

/* ---- Writing metrics ---------------------------------------------------------------------------- */

cJSON *metrics_json(const struct metrics *m)
{
    static const char *const rates[SHARED] = {
        [SHARED_NETWORK] = "network_utilisation", [SHARED_FILE_SYSTEM] = "file_system_utilisation"};
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
    if (m->spread > 0)
        whole = whole && add_number(object, "spread", m->spread);
    if (m->deadlines)
        whole = whole && add_number(object, "deadlines", m->deadlines) && add_number(object, "missed", m->missed) &&
                add_number(object, "mean_lateness", m->mean_lateness);
    for (int i = 0; whole && i < SHARED; i++)
        whole = !m->has_rate[i] || add_number(object, rates[i], m->rate_used[i]);
    if (whole)
        return object;
    cJSON_Delete(object);
    return NULL;
}

static cJSON *account_json(const struct account_record *account)
{
    cJSON *object = cJSON_CreateObject();
    if (object && add_text(object, "account", account->name) && add_number(object, "share", account->share) &&
        add_number(object, "usage", account->usage) && add_number(object, "done", account->done) &&
        add_number(object, "mean_wait", account->mean_wait) &&
        add_number(object, "mean_slowdown", account->mean_slowdown))
        return object;
    cJSON_Delete(object);
    return NULL;
}

bool accounts_add(cJSON *run, const struct schedule *schedule)
{
    cJSON *array = schedule->accounts ? cJSON_AddArrayToObject(run, "accounts") : NULL;
    for (size_t i = 0; array && i < schedule->account_count; i++)
        if (!append_item(array, account_json(&schedule->accounts[i])))
            return false;
    return array || !schedule->accounts;
}

/* ---- Writing jobs ------------------------------------------------------------------------------- */

static cJSON *stay_json(const struct stay *stay)
{
    cJSON *array = cJSON_CreateArray();
    char *text = node_text(stay->nodes, stay->count);
    bool whole = array && text && append_item(array, cJSON_CreateNumber(stay->begin)) &&
                 append_item(array, cJSON_CreateNumber(stay->end)) && append_item(array, cJSON_CreateString(text));
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
        if (!append_item(array, stay_json(&job->stays[i])))
            return false;
    return array;
}

static bool add_work(cJSON *object, const struct work *work)
{
    static const char *const kinds[] = {"rigid", "moldable", "malleable", "evolving"};
    return add_number(object, "id", (double)work->id) && add_text(object, "name", work->name) &&
           add_number(object, "user", work->user) && add_text(object, "kind", kinds[work->kind]) &&
           (!work->account || add_text(object, "account", work->account)) &&
           (work->deadline <= 0 || add_number(object, "deadline", work->submit + work->deadline)) &&
           (!work->priority || add_number(object, "priority", work->priority)) &&
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
           (!ended || job->work->deadline <= 0 || add_number(object, "late", job_lateness(job))) &&
           add_number(object, "resizes", job->resizes) && add_number(object, "requeues", job->requeues) &&
           add_number(object, "stalled", job->stalled) &&
           (job->joules <= 0 || add_number(object, "joules", job->joules)) &&
           (job_spread(job) <= 0 || add_number(object, "spread", job_spread(job))) && add_stays(object, job);
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
        if (!append_item(array, job_json(&schedule->jobs[i]))) {
            cJSON_Delete(array);
            return NULL;
        }
    return array;
}

/* ---- Writing decisions and events --------------------------------------------------------------- */

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
        attach_item(object, "metrics", metrics_json(&schedule->metrics)) && accounts_add(object, schedule) &&
        attach_item(object, "jobs", jobs_json(schedule)) &&
        attach_item(object, "decisions", decisions_json(schedule)) &&
        attach_item(object, "events", events_json(schedule)))
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static int kind_named(const char *text, enum decision_kind *kind)
{
    static const char *const kinds[] = {"start", "resize", "reserve"};
    for (int i = 0; text && i < 3; i++)
        if (!strcmp(text, kinds[i]))
            return *kind = (enum decision_kind)i, 0;
    return -1;
}

static int read_figure(const cJSON *object, const char *name, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item))
        return -1;
    *value = item->valuedouble;
    return 0;
}

static const char *wrong_member(const cJSON *json, struct decision_record *record, const char **nodes)
{
    struct decision *decision = &record->decision;
    double job, from, to;
    *nodes = json_text(json, "nodes");
    if (kind_named(json_text(json, "kind"), &decision->kind))
        return "kind";
    if (read_figure(json, "time", &record->time))
        return "time";
    if (read_figure(json, "job", &job))
        return "job";
    if (read_figure(json, "from", &from) || !(from >= 0 && from <= 1e9))
        return "from";
    if (read_figure(json, "to", &to) || !(to >= 0 && to <= 1e9))
        return "to";
    if (!*nodes)
        return "nodes";
    if (decision->kind == DECISION_RESERVE && read_figure(json, "at", &decision->time))
        return "at";
    decision->job = (int64_t)job;
    decision->from = (int)from;
    decision->to = (int)to;
    return NULL;
}

static int add_decision_read(struct schedule *schedule, const cJSON *json, struct error *error)
{
    struct decision_record *record;
    const char *wrong, *nodes;
    int *numbers;
    if (array_reserve(&schedule->decisions, &schedule->decision_room, schedule->decision_count + 1, sizeof *record))
        return error_memory(error);
    record = &schedule->decisions[schedule->decision_count];
    *record = (struct decision_record){0};
    wrong = wrong_member(json, record, &nodes);
    int count = wrong ? 0 : node_numbers(nodes, &numbers);
    if (count == -2)
        return error_memory(error);
    if (wrong || count < 0)
        return error_set(error, ERROR_FAILED, "decision %zu has no %s that makes sense", schedule->decision_count + 1,
                         wrong ? wrong : "nodes");
    record->decision.nodes = numbers;
    record->decision.count = count;
    schedule->decision_count++;
    return 0;
}

static int read_run(struct schedule *schedule, const cJSON *run, struct error *error)
{
    const char *policy = json_text(run, "policy"), *options = json_text(run, "policy_options");
    const cJSON *decisions = cJSON_GetObjectItemCaseSensitive(run, "decisions"), *json;
    if (!policy || !options || !cJSON_IsArray(decisions))
        return error_set(error, ERROR_FAILED, "the run has no %s",
                         !policy    ? "policy"
                         : !options ? "policy_options"
                                    : "decisions");
    schedule->policy = strdup(policy);
    schedule->options = strdup(options);
    if (!schedule->policy || !schedule->options)
        return error_memory(error);
    cJSON_ArrayForEach(json, decisions)
    {
        if (add_decision_read(schedule, json, error))
            return -1;
    }
    return 0;
}

int schedule_read(struct schedule *schedule, const cJSON *run, struct error *error)
{
    *schedule = (struct schedule){0};
    if (!read_run(schedule, run, error))
        return 0;
    schedule_free(schedule);
    return -1;
}
