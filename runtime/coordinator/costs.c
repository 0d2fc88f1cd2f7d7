/* The cost of past adaptations: see costs.h. */
#include "runtime/coordinator/costs.h"

#include <stdbool.h>

static bool is_same(const struct adaptation *a, const struct adaptation *b)
{
    return b->state == ADAPTATION_COMMITTED && a->from == b->from && a->to == b->to;
}

static bool was_before(const struct adaptation *history, int i)
{
    for (int earlier = 0; earlier < i; earlier++)
        if (is_same(&history[i], &history[earlier]))
            return true;
    return false;
}

/* The mean of all that changed the same sizes. */
static cJSON *mean_json(const struct adaptation *history, int count, const struct adaptation *first)
{
    double times = 0, seconds = 0, stall = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        if (!is_same(first, &history[i]))
            continue;
        times++;
        seconds += history[i].committed - history[i].requested;
        stall += history[i].stall;
        bytes += (double)history[i].bytes;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "from", first->from);
    cJSON_AddNumberToObject(json, "to", first->to);
    cJSON_AddNumberToObject(json, "times", times);
    cJSON_AddNumberToObject(json, "seconds", seconds > 0 ? seconds / times : 0); /* the clock may have been set back */
    cJSON_AddNumberToObject(json, "stall", stall / times);
    cJSON_AddNumberToObject(json, "bytes", bytes / times);
    return json;
}

cJSON *costs_json(const struct adaptation *history, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        if (history[i].state == ADAPTATION_COMMITTED && !was_before(history, i))
            cJSON_AddItemToArray(list, mean_json(history, count, &history[i]));
    return list;
}

cJSON *costs_mean_json(const struct adaptation *history, int count)
{
    double times = 0, seconds = 0, stall = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        if (history[i].state != ADAPTATION_COMMITTED)
            continue;
        times++;
        seconds += history[i].committed - history[i].requested;
        stall += history[i].stall;
        bytes += (double)history[i].bytes;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "count", times);
    if (!times)
        return json;
    cJSON_AddNumberToObject(json, "mean_seconds", seconds > 0 ? seconds / times : 0);
    cJSON_AddNumberToObject(json, "mean_stall", stall / times);
    cJSON_AddNumberToObject(json, "mean_bytes", bytes / times);
    return json;
}
