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

struct mean {
    int times;
    double seconds, stall, bytes;
};

/* Of all that changed the same sizes as that one; NULL: of all. */
static struct mean mean_of(const struct adaptation *history, int count, const struct adaptation *one)
{
    struct mean mean = {0};
    for (int i = 0; i < count; i++) {
        const struct adaptation *a = &history[i];
        if (a->state != ADAPTATION_COMMITTED || (one && !is_same(one, a)))
            continue;
        mean.times++;
        mean.seconds += (a->committed - a->requested - mean.seconds) / mean.times;
        mean.stall += (a->stall - mean.stall) / mean.times;
        mean.bytes += ((double)a->bytes - mean.bytes) / mean.times;
    }
    if (mean.seconds < 0) /* the clock was set back */
        mean.seconds = 0;
    return mean;
}

static cJSON *cost_json(const struct adaptation *history, int count, const struct adaptation *one)
{
    const struct mean mean = mean_of(history, count, one);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "from", one->from);
    cJSON_AddNumberToObject(json, "to", one->to);
    cJSON_AddNumberToObject(json, "times", mean.times);
    cJSON_AddNumberToObject(json, "seconds", mean.seconds);
    cJSON_AddNumberToObject(json, "stall", mean.stall);
    cJSON_AddNumberToObject(json, "bytes", mean.bytes);
    return json;
}

cJSON *costs_json(const struct adaptation *history, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        if (history[i].state == ADAPTATION_COMMITTED && !was_before(history, i))
            cJSON_AddItemToArray(list, cost_json(history, count, &history[i]));
    return list;
}

cJSON *costs_mean_json(const struct adaptation *history, int count)
{
    const struct mean mean = mean_of(history, count, NULL);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "count", mean.times);
    if (!mean.times)
        return json;
    cJSON_AddNumberToObject(json, "mean_seconds", mean.seconds);
    cJSON_AddNumberToObject(json, "mean_stall", mean.stall);
    cJSON_AddNumberToObject(json, "mean_bytes", mean.bytes);
    return json;
}
