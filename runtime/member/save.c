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
    cJSON *json = json_message(ORDER(save));
    cJSON_AddNumberToObject(json, "number", order->number);
    cJSON_AddNumberToObject(json, "restarts", order->restarts);
    cJSON_AddStringToObject(json, "level", names[order->level]);
    cJSON_AddBoolToObject(json, "behind", order->behind);
    cJSON_AddStringToObject(json, "path", order->path);
    cJSON_AddStringToObject(json, "base", order->base);
    return json;
}

void save_order_read(struct save_order *order, const struct order_save *said)
{
    *order = (struct save_order){.level = (enum save_level)said->level,
                                 .number = said->number,
                                 .restarts = said->restarts,
                                 .behind = said->behind};
    snprintf(order->path, sizeof order->path, "%s", said->path);
    snprintf(order->base, sizeof order->base, "%s", said->base);
}
