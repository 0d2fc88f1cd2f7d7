/* When the first waiting job can start, if running ones end as estimated and nothing else takes their nodes. */
#include "scheduler/policies/ers_gap.h"

#include <limits.h>
#include <math.h>

#include "scheduler/policies/ers_sizes.h"

/* A walk through the ends of the running jobs. */
struct walk {
    double time;
    int nodes, ended;
};

struct ers_gap ers_gap_none(void)
{
    return (struct ers_gap){.start = INFINITY, .extra = INT_MAX};
}

static struct walk begin(struct ers_view *view)
{
    ers_sort_by_end(view);
    return (struct walk){.nodes = view->idle + view->coming};
}

/* To the next end, and all at that time. False: there is none. */
static bool next(const struct ers_view *view, struct walk *walk)
{
    if (walk->ended >= view->count)
        return false;
    walk->time = ers_remaining(view->order[walk->ended]);
    while (walk->ended < view->count && ers_remaining(view->order[walk->ended]) <= walk->time)
        walk->nodes += view->order[walk->ended++]->target;
    return true;
}

static struct ers_gap gap_at(const struct walk *walk, int size)
{
    return (struct ers_gap){.start = walk->time, .size = size, .extra = walk->nodes - size, .ended = walk->ended};
}

struct ers_gap ers_gap_find(struct ers_view *view, int size)
{
    struct walk walk = begin(view);
    while (walk.nodes < size) {
        if (!next(view, &walk))
            return ers_gap_none();
    }
    return gap_at(&walk, size);
}

struct ers_gap ers_gap_best(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_gap best = ers_gap_none();
    struct walk walk = begin(view);
    double end = INFINITY, work = ers_work(job);
    int wanted = ers_wanted(job), size;
    do {
        size = ers_size_on(job, walk.nodes, view->settings->moldable);
        if (size > 0 && walk.time + work / size < end) {
            best = gap_at(&walk, size);
            end = walk.time + work / size;
        }
    } while (size != wanted && next(view, &walk));
    return best;
}
