/* When the first waiting job can start, if running ones end as estimated and nothing else takes their nodes. */
#include "scheduler/policies/ers_gap.h"

#include <limits.h>
#include <math.h>

struct ers_gap ers_gap_none(void)
{
    return (struct ers_gap){.start = INFINITY, .extra = INT_MAX};
}

struct ers_gap ers_gap_find(struct ers_view *view, int need)
{
    int nodes = view->idle + view->coming, i = 0;
    double start = 0;
    ers_sort_by_end(view);
    for (; i < view->count && (nodes < need || ers_remaining(view->order[i]) <= start); i++) {
        nodes += view->order[i]->target;
        start = ers_remaining(view->order[i]);
    }
    if (nodes < need)
        return ers_gap_none();
    return (struct ers_gap){.start = start, .extra = nodes - need, .ended = i};
}
