/* Making a plan of an adaptation; its JSON form, and that of the order to make a checkpoint. */
#include "runtime/member/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

static struct plan *plan_alloc(int old_size, int joining)
{
    struct plan *plan = calloc(1, sizeof *plan);
    size_t total = (size_t)old_size + (size_t)joining;
    if (!plan)
        return NULL;
    plan->old_size = old_size;
    plan->joining = joining;
    plan->processes = calloc(total ? total : 1, sizeof *plan->processes);
    plan->new_ranks = calloc(total ? total : 1, sizeof *plan->new_ranks);
    if (!plan->processes || !plan->new_ranks) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

struct plan *plan_make(int adaptation, const int *old, const char *leaves, int old_size, const int *joiners,
                       int joining)
{
    struct plan *plan = plan_alloc(old_size, joining);
    if (!plan)
        return NULL;
    plan->adaptation = adaptation;
    for (int r = 0; r < old_size; r++) {
        plan->processes[r] = old[r];
        plan->new_ranks[r] = leaves[r] ? -1 : plan->staying++;
    }
    for (int j = 0; j < joining; j++) {
        plan->processes[old_size + j] = joiners[j];
        plan->new_ranks[old_size + j] = plan->staying + j;
    }
    return plan;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->processes);
    free(plan->new_ranks);
    free(plan->port);
    free(plan->loads);
    free(plan);
}

bool plan_take_loads(struct plan *plan, const int *loads)
{
    size_t size = sizeof *loads * (size_t)plan->old_size;
    plan->loads = malloc(size);
    return plan->loads && memcpy(plan->loads, loads, size);
}

int plan_index(const struct plan *plan, int process)
{
    for (int i = 0; i < plan_total(plan); i++)
        if (plan->processes[i] == process)
            return i;
    return -1;
}

void position_to_json(const struct position *at, cJSON *json)
{
    cJSON_AddNumberToObject(json, "pc", at->pc);
    cJSON_AddNumberToObject(json, "visit", (double)at->visit);
    cJSON_AddNumberToObject(json, "iteration", (double)at->iteration);
}

struct position position_from_json(const cJSON *json)
{
    return (struct position){
        .pc = json_int(json, "pc", -1),
        .visit = json_int64(json, "visit", -1),
        .iteration = json_int64(json, "iteration", -1),
    };
}

/* In a world of thousands most numbers are one more than that before: [first, how many]; or ranks that leave, [-1, how
 * many]. One alone stands for itself. */
static cJSON *write_ints(const int *values, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && values[to] == (values[from] < 0 ? values[from] : values[to - 1] + 1); to++)
            continue;
        cJSON_AddItemToArray(array, to - from == 1 ? cJSON_CreateNumber(values[from])
                                                   : cJSON_CreateIntArray((int[]){values[from], to - from}, 2));
    }
    return array;
}

cJSON *plan_to_json(const struct plan *plan)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "adaptation", plan->adaptation);
    cJSON_AddNumberToObject(json, "count", (double)plan->count);
    position_to_json(&plan->at, json);
    cJSON_AddNumberToObject(json, "old_size", plan->old_size);
    cJSON_AddItemToObject(json, "processes", write_ints(plan->processes, plan_total(plan)));
    cJSON_AddItemToObject(json, "new_ranks", write_ints(plan->new_ranks, plan_total(plan)));
    if (plan->connected)
        cJSON_AddBoolToObject(json, "connected", 1);
    if (plan->ahead)
        cJSON_AddBoolToObject(json, "ahead", 1);
    if (plan->port)
        cJSON_AddStringToObject(json, "port", plan->port);
    if (plan->loads)
        cJSON_AddItemToObject(json, "loads", cJSON_CreateIntArray(plan->loads, plan->old_size));
    return json;
}

struct plan *plan_of(const struct shape_plan *said)
{
    int total = said->processes.count;
    bool balance = said->loads.count;
    if (balance && said->loads.count != said->old_size)
        return NULL;
    if (total < said->old_size || said->new_ranks.count != total)
        return NULL;
    struct plan *plan = plan_alloc(said->old_size, total - said->old_size);
    if (!plan)
        return NULL;
    plan->adaptation = said->adaptation;
    plan->count = (uint64_t)said->count;
    plan->at = POSITION_OF(said);
    plan->connected = said->connected;
    plan->ahead = said->ahead;
    memcpy(plan->processes, said->processes.items, sizeof *plan->processes * (size_t)total);
    memcpy(plan->new_ranks, said->new_ranks.items, sizeof *plan->new_ranks * (size_t)total);
    for (int r = 0; r < said->old_size; r++)
        plan->staying += plan->new_ranks[r] >= 0;
    plan->port = said->port ? strdup(said->port) : NULL;
    if (balance && !plan_take_loads(plan, said->loads.items)) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

/* ---- The order to make a checkpoint ------------------------------------------------------------- */

static const char *const level_names[SAVE_LEVELS] = {[SAVE_FILE] = "file", [SAVE_MEMORY] = "memory"};

const char *save_level_name(enum save_level level)
{
    return level_names[level];
}

cJSON *save_order_to_json(const struct save_order *order)
{
    cJSON *json = json_message(ORDER(save));
    cJSON_AddNumberToObject(json, "number", order->number);
    cJSON_AddNumberToObject(json, "restarts", order->restarts);
    cJSON_AddStringToObject(json, "level", level_names[order->level]);
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
