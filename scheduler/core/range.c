/* Which node counts a job accepts: see <epop/policy.h>. */
#include <epop/policy.h>

int epop_policy_accepts(const epop_policy_range_t *range, int nodes)
{
    return nodes > 0 && epop_policy_fit(range, nodes) == nodes;
}

/* How many of the sizes are not larger. */
static int not_larger(const epop_policy_range_t *range, int nodes)
{
    int low = 0, high = range->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (range->sizes[middle] <= nodes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int epop_policy_fit(const epop_policy_range_t *range, int nodes)
{
    if (range->count > 0) {
        int count = not_larger(range, nodes);
        return count > 0 ? range->sizes[count - 1] : 0;
    }
    if (nodes < range->min)
        return 0;
    return nodes < range->max ? nodes : range->max;
}
