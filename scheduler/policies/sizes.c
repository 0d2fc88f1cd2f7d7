/* Sizes that a job may have by several ranges at once. */
#include "scheduler/policies/sizes.h"

/* The smallest size of the range that is `nodes` or more; 0: none. */
static int smallest_from(const epop_policy_range_t *range, int nodes)
{
    if (!range->count)
        return nodes > range->max ? 0 : nodes < range->min ? range->min : nodes;
    int low = 0, high = range->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (range->sizes[middle] < nodes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < range->count ? range->sizes[low] : 0;
}

/* From range to range, until all agree on a size; 0: they do not. */
static int agreed_size(const epop_policy_range_t *const ranges[], int count, int nodes,
                       int (*next)(const epop_policy_range_t *range, int nodes))
{
    int agree = 0;
    for (int i = 0; nodes > 0 && agree < count; i = (i + 1) % count) {
        int size = next(ranges[i], nodes);
        agree = size == nodes ? agree + 1 : 1;
        nodes = size;
    }
    return nodes;
}

int sizes_fit(const epop_policy_range_t *const ranges[], int count, int nodes)
{
    return agreed_size(ranges, count, nodes, epop_policy_fit);
}

int sizes_from(const epop_policy_range_t *const ranges[], int count, int nodes)
{
    return agreed_size(ranges, count, nodes, smallest_from);
}
