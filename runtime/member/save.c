/* The order to make a checkpoint: see save.h. */
#include "runtime/member/save.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

static const char *const names[SAVE_LEVELS] = {[SAVE_FILE] = "file", [SAVE_MEMORY] = "memory"};

const char *save_level_name(enum save_level level)
{
    return names[level];
}

cJSON *save_order_to_json(const struct save_order *order)
{
    cJSON *json = json_message(MESSAGE_SAVE);
    cJSON_AddNumberToObject(json, "number", order->number);
    cJSON_AddNumberToObject(json, "restarts", order->restarts);
    cJSON_AddStringToObject(json, "level", names[order->level]);
    cJSON_AddBoolToObject(json, "behind", order->behind);
    cJSON_AddStringToObject(json, "path", order->path);
    cJSON_AddStringToObject(json, "base", order->base);
    return json;
}

int save_order_from_json(const cJSON *json, struct save_order *order)
{
    const char *level = json_text(json, "level"), *path = json_text(json, "path"), *base = json_text(json, "base");
    *order = (struct save_order){.number = json_int(json, "number", 0),
                                 .restarts = json_int(json, "restarts", 0),
                                 .behind = json_true(json, "behind")};
    if (!level || !path || !base || strlen(path) >= sizeof order->path || strlen(base) >= sizeof order->base)
        return -1;
    while (order->level < SAVE_LEVELS && strcmp(level, names[order->level]))
        order->level++;
    snprintf(order->path, sizeof order->path, "%s", path);
    snprintf(order->base, sizeof order->base, "%s", base);
    return order->level < SAVE_LEVELS ? 0 : -1;
}
