/* The decisions of a recorded run: see schedule_read in schedule.h. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "scheduler/simulated/node_text.h"
#include "scheduler/simulated/schedule.h"

static int kind_of(const char *text, enum decision_kind *kind)
{
    static const char *const kinds[] = {"start", "resize", "reserve"};
    for (int i = 0; text && i < 3; i++)
        if (!strcmp(text, kinds[i]))
            return *kind = (enum decision_kind)i, 0;
    return -1;
}

static int number(const cJSON *object, const char *name, double *value)
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
    if (kind_of(json_text(json, "kind"), &decision->kind))
        return "kind";
    if (number(json, "time", &record->time))
        return "time";
    if (number(json, "job", &job))
        return "job";
    if (number(json, "from", &from) || !(from >= 0 && from <= 1e9))
        return "from";
    if (number(json, "to", &to) || !(to >= 0 && to <= 1e9))
        return "to";
    if (!*nodes)
        return "nodes";
    if (decision->kind == DECISION_RESERVE && number(json, "at", &decision->time))
        return "at";
    decision->job = (int64_t)job;
    decision->from = (int)from;
    decision->to = (int)to;
    return NULL;
}

static int add(struct schedule *schedule, const cJSON *json, struct error *error)
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

static int read(struct schedule *schedule, const cJSON *run, struct error *error)
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
        if (add(schedule, json, error))
            return -1;
    }
    return 0;
}

int schedule_read(struct schedule *schedule, const cJSON *run, struct error *error)
{
    *schedule = (struct schedule){0};
    if (!read(schedule, run, error))
        return 0;
    schedule_free(schedule);
    return -1;
}
