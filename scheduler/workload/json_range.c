/* Sizes, and the rules that they may come from: see json_range.h. */
#include "scheduler/workload/json_range.h"

#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/workload/fill.h"

#define MOST 1000000

struct sizes {
    int *sizes;
    int count;
    size_t room;
};

/* Those outside of the bounds, and those that are there, are not taken. */
static int add_size(struct sizes *sizes, const epop_policy_range_t *range, int size)
{
    if (size < range->min || size > range->max || (sizes->count > 0 && sizes->sizes[sizes->count - 1] >= size))
        return 0;
    if (array_reserve(&sizes->sizes, &sizes->room, (size_t)sizes->count + 1, sizeof *sizes->sizes))
        return -1;
    sizes->sizes[sizes->count++] = size;
    return 0;
}

static int read_list(const struct place *place, const epop_policy_range_t *range, struct sizes *sizes,
                     struct error *error)
{
    int last = 0, index = 0;
    if (place_array(place, error))
        return -1;
    for (const cJSON *item = place->item->child; item; item = item->next, index++) {
        struct place at = {.in = place, .index = index, .item = item};
        double size = cJSON_IsNumber(item) ? item->valuedouble : 0;
        if (!(size > last && size <= MOST) || size != (int)size)
            return place_error(&at, error, "must be a whole number above %d: sizes ascend", last);
        last = (int)size;
        if (add_size(sizes, range, last))
            return error_memory(error);
    }
    return 0;
}

/* Nodes of so many cores for 1, 4, 9, ... processes. */
static int expand_squares(const struct place *place, const epop_policy_range_t *range, struct sizes *sizes,
                          struct error *error)
{
    static const char *const keys[] = {"cores", NULL};
    int cores = 1;
    if (place_object(place, keys, error) || place_int(place, "cores", true, 1, MOST, &cores, error))
        return -1;
    for (long long root = 1, nodes = 1; nodes <= range->max; root++, nodes = (root * root + cores - 1) / cores)
        if (add_size(sizes, range, (int)nodes))
            return error_memory(error);
    return 0;
}

static int expand_series(const struct place *rule, const char *key, bool powers, const epop_policy_range_t *range,
                         struct sizes *sizes, struct error *error)
{
    int step = 1;
    if (place_int(rule, key, true, powers ? 2 : 1, MOST, &step, error))
        return -1;
    for (long long size = powers ? 1 : step; size <= range->max; size = powers ? size * step : size + step)
        if (add_size(sizes, range, (int)size))
            return error_memory(error);
    return 0;
}

static int expand_rule(const struct place *place, const epop_policy_range_t *range, struct sizes *sizes,
                       struct error *error)
{
    static const char *const keys[] = {"square_processes", "powers_of", "multiples_of", NULL};
    if (place_object(place, keys, error))
        return -1;
    if (cJSON_GetArraySize(place->item) != 1)
        return place_error(place, error, "must have one rule: square_processes, powers_of or multiples_of");
    struct place squares = place_in(place, keys[0]);
    if (squares.item)
        return expand_squares(&squares, range, sizes, error);
    bool powers = place_in(place, keys[1]).item;
    return expand_series(place, powers ? keys[1] : keys[2], powers, range, sizes, error);
}

int json_range(const struct place *place, epop_policy_range_t *range, struct error *error)
{
    struct sizes sizes = {0};
    range->sizes = NULL;
    range->count = 0;
    if (!place->item)
        return 0;
    int failed =
        cJSON_IsArray(place->item) ? read_list(place, range, &sizes, error) : expand_rule(place, range, &sizes, error);
    if (!failed && sizes.count == 0)
        failed = place_error(place, error, "has no size from %d to %d", range->min, range->max);
    if (failed) {
        free(sizes.sizes);
        return -1;
    }
    *range = (epop_policy_range_t){sizes.sizes[0], sizes.sizes[sizes.count - 1], sizes.sizes, sizes.count};
    return 0;
}
