/* Speeds seen: see speeds.h. */
#include "runtime/coordinator/speeds.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

void speeds_destroy(struct speeds *speeds)
{
    free(speeds->seen);
    *speeds = (struct speeds){0};
}

static bool is_before(const struct speed *a, const struct speed *b)
{
    return a->pc < b->pc || (a->pc == b->pc && a->size < b->size);
}

static bool grow(struct speeds *speeds)
{
    int room = speeds->room ? 2 * speeds->room : 8;
    struct speed *grown =
        speeds->count < speeds->room ? speeds->seen : realloc(speeds->seen, (size_t)room * sizeof *grown);
    if (grown && grown != speeds->seen)
        speeds->seen = grown;
    if (grown && speeds->count == speeds->room)
        speeds->room = room;
    return grown;
}

void speeds_add(struct speeds *speeds, const struct speed *more)
{
    int i = 0;
    while (i < speeds->count && is_before(&speeds->seen[i], more))
        i++;
    bool known = i < speeds->count && !is_before(more, &speeds->seen[i]);
    if (!known && !grow(speeds))
        return;
    struct speed *at = &speeds->seen[i];
    if (!known) {
        memmove(at + 1, at, (size_t)(speeds->count++ - i) * sizeof *at);
        *at = (struct speed){.pc = more->pc, .size = more->size};
    }
    at->iterations += more->iterations;
    at->seconds += more->seconds;
}

void speeds_take(struct speeds *speeds, const struct shape_tally *tally)
{
    for (int i = 0; tally && i < tally->elements.count; i++) {
        const struct shape_tally_element *e = &tally->elements.items[i];
        struct speed more = {.pc = e->pc, .size = tally->size, .iterations = e->iterations, .seconds = e->seconds};
        if (more.size > 0 && more.iterations > 0)
            speeds_add(speeds, &more);
    }
}

static double rate(const struct speed *speed)
{
    return speed->seconds > 0 ? (double)speed->iterations / speed->seconds : 0;
}

static cJSON *speed_json(const struct speed *speed, double first)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "size", speed->size);
    cJSON_AddNumberToObject(json, "iterations", (double)speed->iterations);
    cJSON_AddNumberToObject(json, "seconds", speed->seconds);
    if (rate(speed) > 0)
        cJSON_AddNumberToObject(json, "rate", rate(speed));
    if (rate(speed) > 0 && first > 0)
        cJSON_AddNumberToObject(json, "speedup", rate(speed) / first);
    return json;
}

cJSON *speeds_json(const struct speeds *speeds, int pc)
{
    cJSON *list = cJSON_CreateArray();
    double first = 0;
    for (int i = 0; i < speeds->count; i++) {
        const struct speed *speed = &speeds->seen[i];
        if (speed->pc != pc)
            continue;
        if (!cJSON_GetArraySize(list))
            first = rate(speed);
        cJSON_AddItemToArray(list, speed_json(speed, first));
    }
    return list;
}
