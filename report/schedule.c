/*
 * Reads a schedule from JSON, and checks what the charts compute with. What they only show is looked at by those who
 * show it.
 */
#include "report/schedule.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Members that have to be there: the first that is missing or wrong is remembered with its place ---- */

/* Where one is: /runs/RUN/LIST/ITEM; what is not known yet is negative or NULL. */
struct fields {
    int run;
    const char *list;
    int item;
    bool failed;
    char *error;
    size_t error_size;
};

/* After a failure the getters go on with harmless values, so that who reads need not look after each of them. */

static int place_text(const struct fields *at, char *text, size_t size)
{
    if (at->run < 0)
        return snprintf(text, size, "/");
    if (!at->list)
        return snprintf(text, size, "/runs/%d/", at->run);
    if (at->item < 0)
        return snprintf(text, size, "/runs/%d/%s/", at->run, at->list);
    return snprintf(text, size, "/runs/%d/%s/%d/", at->run, at->list, at->item);
}

/* Says that a member is wrong, unless something was before. */
static void fields_fail(struct fields *at, const char *key, const char *what)
{
    char where[120];
    if (at->failed)
        return;
    at->failed = true;
    place_text(at, where, sizeof where);
    if (!*key)
        where[strlen(where) - 1] = '\0';
    snprintf(at->error, at->error_size, "is not a valid schedule: %s%s %s", where, key, what);
}

static bool is_none(const cJSON *item)
{
    return !item || cJSON_IsNull(item);
}

static const cJSON *member_of(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* A finite number; 0 after a failure. */
static double fields_number(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member_of(object, key);
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        return item->valuedouble;
    fields_fail(at, key, "must be a number");
    return 0;
}

/* Likewise, NAN where it is null or not there. */
static double fields_number_or_none(struct fields *at, const cJSON *object, const char *key)
{
    return is_none(member_of(object, key)) ? NAN : fields_number(at, object, key);
}

/* A whole number from `least` to `most`. */
static int fields_count(struct fields *at, const cJSON *object, const char *key, int least, int most)
{
    char what[80];
    double value = fields_number(at, object, key);
    if (value >= least && value <= most && value == floor(value))
        return (int)value;
    snprintf(what, sizeof what, "must be a whole number from %d to %d", least, most);
    fields_fail(at, key, what);
    return least;
}

static const char *fields_text(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member_of(object, key);
    if (cJSON_IsString(item))
        return item->valuestring;
    fields_fail(at, key, "must be a text");
    return "";
}

/* Likewise, "" where it is null or not there. */
static const char *fields_text_or_none(struct fields *at, const cJSON *object, const char *key)
{
    return is_none(member_of(object, key)) ? "" : fields_text(at, object, key);
}

/* One of the words, of which the last is NULL. */
static const char *fields_word(struct fields *at, const cJSON *object, const char *key, const char *const *words)
{
    char what[120] = "must be one of";
    const char *text = fields_text(at, object, key);
    for (size_t i = 0; words[i]; i++) {
        size_t length = strlen(what);
        if (!strcmp(words[i], text))
            return text;
        snprintf(what + length, sizeof what - length, " %s", words[i]);
    }
    fields_fail(at, key, what);
    return words[0];
}

static const cJSON *fields_array(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member_of(object, key);
    if (!cJSON_IsArray(item))
        fields_fail(at, key, "must be a list");
    return item;
}

static const cJSON *fields_object(struct fields *at, const cJSON *object, const char *key)
{
    const cJSON *item = member_of(object, key);
    if (!cJSON_IsObject(item))
        fields_fail(at, key, "must be an object");
    return item;
}

/* ---- Nodes as text ------------------------------------------------------------------------------ */

/* A text is gone through from range to range; none is ever kept as a list. */

static const char *number_at(const char *text, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || value > INT_MAX)
        return NULL;
    *number = (int)value;
    return end;
}

const char *schedule_next_range(const char *text, int *first, int *last)
{
    text = number_at(text + (*text == ','), first);
    *last = *first;
    if (text && *text == '-')
        text = number_at(text + 1, last);
    return text && (!*text || *text == ',') && *first <= *last ? text : NULL;
}

bool schedule_count_ranges(const char *text, int limit, int *nodes, int *ranges)
{
    int first = 0, last = -1;
    *nodes = *ranges = 0;
    if (*text == ',')
        return false;
    while (*text) {
        int before = last;
        text = schedule_next_range(text, &first, &last);
        if (!text || first <= before || last >= limit)
            return false;
        *nodes += last - first + 1;
        ++*ranges;
    }
    return *nodes > 0;
}

/* ---- The schedule ------------------------------------------------------------------------------- */

#define SCHEMA     "epop.schedule"
#define VERSION    1
#define MOST_NODES 1000000

static const char *const kinds[] = {"rigid", "moldable", "malleable", "evolving", NULL};
static const char *const outcomes[] = {"done", "failed", "never", "running", "waiting", NULL};
static const char *const decision_kinds[] = {"start", "resize", "reserve", NULL};

bool schedule_is(const cJSON *json)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(json, "schema");
    return cJSON_IsString(schema) && !strcmp(schema->valuestring, SCHEMA);
}

static const cJSON *number_item(const cJSON *item, double *number)
{
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        return NULL;
    *number = item->valuedouble;
    return item->next;
}

/* [begin, end, "0-3,7"] */
static bool read_stay(struct schedule_stay *stay, const cJSON *json, double since, int nodes)
{
    const cJSON *item = number_item(cJSON_IsArray(json) ? json->child : NULL, &stay->begin);
    item = number_item(item, &stay->end);
    if (!cJSON_IsString(item) || stay->begin < since || stay->end < stay->begin)
        return false;
    stay->nodes = item->valuestring;
    return schedule_count_ranges(stay->nodes, nodes, &stay->size, &stay->pieces);
}

static void read_stays(struct fields *at, struct schedule_job *job, const cJSON *list, int nodes)
{
    char key[40];
    const cJSON *json;
    double since = -HUGE_VAL;
    job->stays = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *job->stays);
    if (!job->stays)
        fields_fail(at, "stays", "does not fit into memory");
    cJSON_ArrayForEach(json, list)
    {
        struct schedule_stay *stay = job->stays ? &job->stays[job->stay_count] : NULL;
        snprintf(key, sizeof key, "stays/%zu", job->stay_count++);
        if (at->failed)
            return;
        if (!read_stay(stay, json, since, nodes))
            fields_fail(at, key, "must be [begin, end, nodes], in order, with nodes of the machine as in \"0-3,7\"");
        since = stay->end;
    }
}

static void read_job(struct fields *at, struct schedule_job *job, const cJSON *json, int nodes)
{
    job->json = json;
    job->id = fields_number(at, json, "id");
    job->name = fields_text_or_none(at, json, "name");
    job->kind = fields_word(at, json, "kind", kinds);
    job->outcome = fields_word(at, json, "outcome", outcomes);
    job->submit = fields_number(at, json, "submit");
    job->end = fields_number_or_none(at, json, "end");
    job->slowdown = fields_number_or_none(at, json, "slowdown");
    if (job->slowdown < 1)
        fields_fail(at, "slowdown", "must be 1 at least");
    if (!strcmp(job->outcome, "done") && isnan(job->end))
        fields_fail(at, "end", "must be a number, as the job is done");
    if (!strcmp(job->outcome, "running") && isnan(fields_number_or_none(at, json, "start")))
        fields_fail(at, "start", "must be a number, as the job runs");
    job->wanted = fields_count(at, json, "wanted", 1, MOST_NODES);
    fields_number_or_none(at, json, "wait");
    read_stays(at, job, fields_array(at, json, "stays"), nodes);
    if (job->stay_count && job->stays && job->stays[0].begin < job->submit)
        fields_fail(at, "stays/0", "begins before the job is submitted");
}

static int job_by_id(const void *a, const void *b)
{
    double left = ((const struct schedule_job *)a)->id, right = ((const struct schedule_job *)b)->id;
    return (left > right) - (left < right);
}

static void read_jobs(struct fields *at, struct schedule_run *run, int nodes)
{
    const cJSON *json, *list = fields_array(at, run->json, "jobs");
    run->jobs = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *run->jobs);
    if (!run->jobs)
        fields_fail(at, "jobs", "do not fit into memory");
    at->list = "jobs";
    cJSON_ArrayForEach(json, list)
    {
        at->item = (int)run->job_count;
        if (at->failed)
            return;
        read_job(at, &run->jobs[run->job_count++], json, nodes);
    }
    qsort(run->jobs, run->job_count, sizeof *run->jobs, job_by_id);
    at->item = -1;
    for (size_t i = 1; i < run->job_count; i++)
        if (run->jobs[i].id == run->jobs[i - 1].id)
            fields_fail(at, "", "has two jobs of the same id");
    at->list = NULL;
}

static void read_decision(struct fields *at, struct schedule_run *run, const cJSON *json)
{
    struct schedule_decision *decision = &run->decisions[run->decision_count++];
    int size, pieces;
    decision->json = json;
    decision->time = fields_number(at, json, "time");
    decision->job = fields_number(at, json, "job");
    decision->kind = fields_word(at, json, "kind", decision_kinds);
    decision->reason = fields_text_or_none(at, json, "reason");
    decision->to = fields_count(at, json, "to", 1, MOST_NODES);
    fields_number_or_none(at, json, "from");
    if (isnan(fields_number_or_none(at, json, "at")) && !strcmp(decision->kind, "reserve"))
        fields_fail(at, "at", "must be a number, as this is a reservation");
    const char *nodes = fields_text_or_none(at, json, "nodes");
    if (*nodes && !schedule_count_ranges(nodes, MOST_NODES, &size, &pieces))
        fields_fail(at, "nodes", "must be nodes in order, as in \"0-3,7\"");
    if (run->decision_count > 1 && decision->time < decision[-1].time)
        fields_fail(at, "time", "is before that of the decision before it");
    if (!schedule_job(run, decision->job))
        fields_fail(at, "job", "is none of the jobs");
}

static void read_decisions(struct fields *at, struct schedule_run *run)
{
    const cJSON *json, *list = fields_array(at, run->json, "decisions");
    run->decisions = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *run->decisions);
    if (!run->decisions)
        fields_fail(at, "decisions", "do not fit into memory");
    at->list = "decisions";
    cJSON_ArrayForEach(json, list)
    {
        at->item = (int)run->decision_count;
        if (at->failed)
            return;
        read_decision(at, run, json);
    }
}

static void read_events(struct fields *at, const struct schedule_run *run)
{
    const cJSON *json, *list = fields_array(at, run->json, "events");
    at->list = "events";
    at->item = 0;
    cJSON_ArrayForEach(json, list)
    {
        fields_number(at, json, "time");
        fields_text(at, json, "text");
        at->item++;
    }
}

/* The stay that a decision leads to is the next one of that size; if it was refused, a later decision may claim it. */
static void give_reasons(struct schedule_run *run)
{
    for (size_t i = 0; i < run->decision_count; i++) {
        const struct schedule_decision *decision = &run->decisions[i];
        const struct schedule_job *job = schedule_job(run, decision->job);
        for (size_t j = 0; strcmp(decision->kind, "reserve") && j < job->stay_count; j++)
            if (job->stays[j].begin >= decision->time && job->stays[j].size == decision->to) {
                job->stays[j].reason = decision->reason;
                break;
            }
    }
}

static void read_run(struct fields *at, struct schedule_run *run, const cJSON *json, int nodes)
{
    const cJSON *metric, *metrics = fields_object(at, json, "metrics");
    run->json = json;
    run->policy = fields_text(at, json, "policy");
    run->options = fields_text_or_none(at, json, "policy_options");
    at->list = "metrics";
    cJSON_ArrayForEach(metric, metrics) if (metric->string) fields_number_or_none(at, metrics, metric->string);
    at->list = NULL;
    read_jobs(at, run, nodes);
    if (!at->failed)
        read_decisions(at, run);
    at->list = NULL;
    at->item = -1;
    if (!at->failed)
        read_events(at, run);
    if (!at->failed)
        give_reasons(run);
}

static void find_times(struct schedule *schedule)
{
    double begin = HUGE_VAL, end = 0;
    for (size_t i = 0; i < schedule->run_count; i++)
        for (size_t j = 0; j < schedule->runs[i].job_count; j++) {
            const struct schedule_job *job = &schedule->runs[i].jobs[j];
            begin = fmin(begin, job->submit);
            end = fmax(end, fmax(job->submit, job->end));
            if (job->stay_count)
                end = fmax(end, job->stays[job->stay_count - 1].end);
        }
    schedule->begin = isfinite(begin) && (begin < 0 || begin > end / 10) ? begin : 0;
    schedule->end = end > schedule->begin ? end : schedule->begin + 1;
}

static int read_runs(struct schedule *schedule, struct fields *at)
{
    const cJSON *json, *list = fields_array(at, schedule->json, "runs");
    schedule->nodes = fields_count(at, fields_object(at, schedule->json, "machine"), "nodes", 1, MOST_NODES);
    fields_object(at, schedule->json, "workload");
    schedule->runs = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *schedule->runs);
    if (!schedule->runs)
        fields_fail(at, "runs", "do not fit into memory");
    else if (!cJSON_GetArraySize(list))
        fields_fail(at, "runs", "must have one run at least");
    cJSON_ArrayForEach(json, list)
    {
        if (at->failed)
            return -1;
        at->run = (int)schedule->run_count;
        at->list = NULL;
        at->item = -1;
        read_run(at, &schedule->runs[schedule->run_count++], json, schedule->nodes);
    }
    find_times(schedule);
    return at->failed ? -1 : 0;
}

int schedule_read(struct schedule *schedule, const cJSON *json, char *error, size_t error_size)
{
    struct fields at = {.run = -1, .item = -1, .error = error, .error_size = error_size};
    *schedule = (struct schedule){.json = json};
    double version = fields_number(&at, json, "version");
    if (!at.failed && version != VERSION) {
        snprintf(error, error_size, "is a schedule of version %g; this epop-report reads version %d", version, VERSION);
        return -1;
    }
    if (!read_runs(schedule, &at))
        return 0;
    schedule_free(schedule);
    return -1;
}

void schedule_free(struct schedule *schedule)
{
    for (size_t i = 0; i < schedule->run_count; i++) {
        struct schedule_run *run = &schedule->runs[i];
        for (size_t j = 0; j < run->job_count; j++)
            free(run->jobs[j].stays);
        free(run->jobs);
        free(run->decisions);
    }
    free(schedule->runs);
    *schedule = (struct schedule){0};
}

const struct schedule_job *schedule_job(const struct schedule_run *run, double id)
{
    const struct schedule_job key = {.id = id};
    return bsearch(&key, run->jobs, run->job_count, sizeof key, job_by_id);
}
