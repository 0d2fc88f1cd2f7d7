/* Adaptations and checkpoints in the profile: see adaptations.h. */
#include "driver/profile/adaptations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/profile/sums.h"
#include "runtime/base/json.h"

/* Of a described array, as its row has them behind the name. */
static const char *const array_keys[] = {"sent", "received", "least", "ahead"};

static void add_time(cJSON *times, const epop_job_t *job, const char *key, double time)
{
    add_number_or_null(times, key, time > 0 ? (time > job->started ? time - job->started : 0) : -1);
}

/* What the processes say of one adaptation: of each the row, by process. */
struct rows {
    int count;
    const cJSON **rows;
    int *processes;
};

static struct rows rows_of(int id, const cJSON *records)
{
    struct rows found = {0};
    const cJSON *record, *row;
    int room = 1;
    cJSON_ArrayForEach(record, records) room += cJSON_GetArraySize(cJSON_GetObjectItem(record, "adaptations"));
    found.rows = malloc((size_t)room * sizeof *found.rows);
    found.processes = malloc((size_t)room * sizeof *found.processes);
    if (!found.rows || !found.processes)
        return found;
    cJSON_ArrayForEach(record, records)
    {
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(record, "adaptations"))
        {
            if (json_int(row, "id", 0) != id)
                continue;
            found.processes[found.count] = json_int(record, "process", 0);
            found.rows[found.count++] = row;
        }
    }
    return found;
}

static double largest(const struct rows *rows, const char *key, double otherwise)
{
    double most = otherwise;
    for (int i = 0; i < rows->count; i++) {
        double value = json_number(rows->rows[i], key, otherwise);
        most = value > most ? value : most;
    }
    return most;
}

static cJSON *times_json(const epop_job_t *job, const epop_adaptation_t *a, const struct rows *rows)
{
    cJSON *times = cJSON_CreateObject();
    add_time(times, job, "requested", a->requested);
    add_time(times, job, "prepared", a->prepared);
    add_time(times, job, "agreed", a->agreed);
    add_time(times, job, "opened", largest(rows, "opened", 0));
    add_time(times, job, "committed", a->committed);
    return times;
}

static cJSON *sums_json(const struct rows *rows, const char *key)
{
    double *values = malloc(sizeof *values * (size_t)(rows->count + 1));
    for (int i = 0; values && i < rows->count; i++)
        values[i] = json_number(rows->rows[i], key, 0);
    cJSON *json = rows->count && values ? over_ranks_json(values, rows->count) : cJSON_CreateNull();
    free(values);
    return json;
}

static cJSON *bytes_json(const struct rows *rows)
{
    static const char *const keys[] = {"sent", "received", "least"};
    if (!rows->count)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        double sum = 0;
        for (int i = 0; i < rows->count; i++)
            sum += json_number(rows->rows[i], keys[k], 0);
        cJSON_AddNumberToObject(json, keys[k], sum);
    }
    return json;
}

/* Records are sorted by process; a row's peers are not, as their order is that of the ranks. */
static int compare_pairs(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static void add_moves(cJSON *list, int from, const cJSON *to)
{
    int count = cJSON_GetArraySize(to), at = 0;
    double(*pairs)[2] = malloc(sizeof *pairs * (size_t)(count + 1));
    const cJSON *pair;
    if (!pairs)
        return;
    cJSON_ArrayForEach(pair, to)
    {
        pairs[at][0] = cJSON_GetNumberValue(cJSON_GetArrayItem(pair, 0));
        pairs[at++][1] = cJSON_GetNumberValue(cJSON_GetArrayItem(pair, 1));
    }
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "from", from);
        cJSON_AddNumberToObject(one, "to", pairs[i][0]);
        cJSON_AddNumberToObject(one, "bytes", pairs[i][1]);
        cJSON_AddItemToArray(list, one);
    }
    free(pairs);
}

static cJSON *traffic_json(const struct rows *rows)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < rows->count; i++)
        add_moves(list, rows->processes[i], cJSON_GetObjectItem(rows->rows[i], "to"));
    return list;
}

/* The one of that name, made if there is none. */
static cJSON *array_at(cJSON *list, const char *name)
{
    cJSON *one;
    cJSON_ArrayForEach(one, list) if (!strcmp(json_text(one, "name"), name)) return one;
    one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", name);
    for (size_t i = 0; i < sizeof array_keys / sizeof *array_keys; i++)
        cJSON_AddNumberToObject(one, array_keys[i], 0);
    cJSON_AddItemToArray(list, one);
    return one;
}

/* Described arrays, in the order in which they are told; all processes together. */
static cJSON *arrays_json(const struct rows *rows)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < rows->count; i++) {
        const cJSON *told;
        cJSON_ArrayForEach(told, cJSON_GetObjectItem(rows->rows[i], "arrays"))
        {
            const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(told, 0));
            cJSON *one = name ? array_at(list, name) : NULL;
            for (int k = 0; one && k < (int)(sizeof array_keys / sizeof *array_keys); k++) {
                cJSON *sum = cJSON_GetObjectItem(one, array_keys[k]);
                cJSON_SetNumberValue(sum, sum->valuedouble + cJSON_GetNumberValue(cJSON_GetArrayItem(told, k + 1)));
            }
        }
    }
    return list;
}

static void add_place(cJSON *json, const epop_adaptation_t *a, const cJSON *elements)
{
    const cJSON *element = a->pc >= 0 ? cJSON_GetArrayItem(elements, a->pc) : NULL;
    add_number_or_null(json, "pc", a->pc);
    if (element)
        cJSON_AddStringToObject(json, "element", json_text(element, "name"));
    else
        cJSON_AddNullToObject(json, "element");
    add_number_or_null(json, "iteration", a->pc >= 0 ? (double)a->iteration : -1);
}

static cJSON *adaptation_json(const epop_job_t *job, const epop_adaptation_t *a, const cJSON *records,
                              const cJSON *elements)
{
    struct rows rows = rows_of(a->id, records);
    bool committed = !strcmp(a->state, "committed");
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "id", a->id);
    cJSON_AddNumberToObject(json, "from", a->from);
    cJSON_AddNumberToObject(json, "to", a->to);
    cJSON_AddStringToObject(json, "by", a->by);
    cJSON_AddStringToObject(json, "state", a->state);
    add_place(json, a, elements);
    cJSON_AddItemToObject(json, "reason", a->reason[0] ? cJSON_CreateString(a->reason) : cJSON_CreateNull());
    cJSON_AddItemToObject(json, "times", times_json(job, a, &rows));
    add_number_or_null(json, "stall", committed ? a->stall : -1);
    add_number_or_null(json, "init_time", largest(&rows, "init", -1));
    cJSON_AddItemToObject(json, "adapt_time", sums_json(&rows, "time"));
    cJSON_AddItemToObject(json, "mpi_time", sums_json(&rows, "mpi"));
    cJSON_AddItemToObject(json, "bytes", bytes_json(&rows));
    cJSON_AddItemToObject(json, "traffic", traffic_json(&rows));
    cJSON_AddItemToObject(json, "arrays", arrays_json(&rows));
    free(rows.rows);
    free(rows.processes);
    return json;
}

cJSON *adaptations_json(const epop_job_t *job, const cJSON *records, const cJSON *elements)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->adaptation_count; i++)
        cJSON_AddItemToArray(list, adaptation_json(job, &job->adaptations[i], records, elements));
    return list;
}

static void add_size(cJSON *list, const epop_job_t *job, double time, int size)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "time", time > job->started ? time - job->started : 0);
    cJSON_AddNumberToObject(json, "size", size);
    cJSON_AddItemToArray(list, json);
}

cJSON *world_history_json(const epop_job_t *job)
{
    cJSON *list = cJSON_CreateArray();
    add_size(list, job, job->started, job->size);
    for (int i = 0; i < job->adaptation_count; i++)
        if (!strcmp(job->adaptations[i].state, "committed") && job->adaptations[i].from != job->adaptations[i].to)
            add_size(list, job, job->adaptations[i].committed, job->adaptations[i].to);
    return list;
}

cJSON *refusals_json(const epop_job_t *job)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->refusal_count; i++) {
        double time = job->refusals[i].time;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "time", time > job->started ? time - job->started : 0);
        cJSON_AddStringToObject(json, "reason", job->refusals[i].reason);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

cJSON *checkpoints_json(const epop_job_t *job, const cJSON *elements)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->checkpoint_count; i++) {
        const epop_checkpoint_t *one = &job->checkpoints[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "number", one->number);
        cJSON_AddStringToObject(json, "level", one->level);
        cJSON_AddItemToObject(json, "path", one->path[0] ? cJSON_CreateString(one->path) : cJSON_CreateNull());
        cJSON_AddNumberToObject(json, "time", one->time > job->started ? one->time - job->started : 0);
        cJSON_AddNumberToObject(json, "pc", one->pc);
        cJSON_AddStringToObject(json, "element", json_text(cJSON_GetArrayItem(elements, one->pc), "name"));
        cJSON_AddNumberToObject(json, "iteration", (double)one->iteration);
        cJSON_AddNumberToObject(json, "bytes", (double)one->bytes);
        cJSON_AddNumberToObject(json, "seconds", one->seconds);
        cJSON_AddNumberToObject(json, "stall", one->stall);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}
