/*
 * The batch part. A job gets what its user asked for, or less if it ends no later so than by waiting for more. One that
 * can grow is not held to that: it may do with a quarter, which two doublings make good.
 */
#include "scheduler/policies/ers_queue.h"

#include "scheduler/policies/ers_offer.h"
#include "scheduler/policies/ers_sizes.h"

static int size_on(const struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    return ers_size_on(job, nodes, view->settings->moldable);
}

#define GROWTH 4

/* On so many nodes, beside an end that waiting would give it. */
static bool is_soon_enough(const epop_policy_job_t *job, int size, double end)
{
    return ers_work(job) / size <= end * (job->kind >= EPOP_MALLEABLE ? GROWTH : 1);
}

static void take(struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    int idle = nodes < view->idle ? nodes : view->idle;
    view->idle -= idle;
    view->coming -= nodes - idle;
    ers_view_add(view, job, nodes);
}

static void start(struct ers_view *view, const epop_policy_job_t *job, int nodes, const char *why)
{
    if (nodes == job->wanted)
        epop_plan_start(view->plan, job, nodes, "%d nodes wanted, %d idle%s", job->wanted, view->idle, why);
    else
        epop_plan_start(view->plan, job, nodes, "%d of the %d nodes wanted: %d idle%s", nodes, job->wanted, view->idle,
                        why);
    take(view, job, nodes);
}

/* What it is to have of the nodes that are idle, or that resizes under way give back in a moment; 0: it waits. */
static int size_soon(struct ers_view *view, const epop_policy_job_t *job)
{
    int size = size_on(view, job, view->idle + view->coming);
    if (size <= 0 || size == ers_wanted(job))
        return size;
    struct ers_gap best = ers_gap_best(view, job);
    return is_soon_enough(job, size, best.start + ers_work(job) / best.size) ? size : 0;
}

/* Half of it now is better than all in a moment, as resizes may be refused. */
static bool place(struct ers_view *view, const epop_policy_job_t *job)
{
    int now = size_on(view, job, view->idle), soon = size_soon(view, job);
    if (soon > 0 && 2 * now >= soon)
        start(view, job, now < soon ? now : soon, "");
    else if (soon > 0)
        take(view, job, soon);
    return soon > 0;
}

/* From what running jobs can do without, too: they give it back first. */
static bool offer(struct ers_view *view, const epop_policy_job_t *job)
{
    int here = view->idle + view->coming;
    int size = size_on(view, job, here + ers_offer_size(view));
    if (size <= here)
        return false;
    ers_offer_take(view, size - here, job);
    take(view, job, size);
    return true;
}

/* Nodes that are down may come back: it keeps its place, and lets the others pass. */
static bool is_too_large(const struct ers_view *view, const epop_policy_job_t *job)
{
    return !size_on(view, job, view->state->node_count - view->state->down);
}

int ers_queue_start(struct ers_view *view)
{
    const epop_policy_job_t *const *waiting = view->state->waiting;
    int i = 0, count = view->state->waiting_count;
    while (i < count && (place(view, waiting[i]) || is_too_large(view, waiting[i])))
        i++;
    if (i >= count || !ers_offer_open(view, waiting[i]))
        return i;
    while (i < count && (offer(view, waiting[i]) || place(view, waiting[i]) || is_too_large(view, waiting[i])))
        i++;
    return i;
}

/* Where it does not end before, it is as if it started together with the first. */
static int size_beside(const struct ers_view *view, const epop_policy_job_t *job, const struct ers_gap *gap)
{
    int size = size_on(view, job, view->idle < gap->extra ? view->idle : gap->extra);
    return size > 0 && is_soon_enough(job, size, gap->start + ers_work(job) / ers_wanted(job)) ? size : 0;
}

static void backfill(struct ers_view *view, const epop_policy_job_t *job, struct ers_gap *gap)
{
    int size = size_on(view, job, view->idle);
    if (size > 0 && ers_work(job) / size <= gap->start) {
        start(view, job, size, ", and it ends before an earlier job can start");
        return;
    }
    size = size_beside(view, job, gap);
    if (size <= 0)
        return;
    start(view, job, size, ", and an earlier job does not need these");
    gap->extra -= size;
}

void ers_queue_backfill(struct ers_view *view, int head, struct ers_gap *gap)
{
    for (int i = head + 1; i < view->state->waiting_count && view->idle > 0; i++)
        backfill(view, view->state->waiting[i], gap);
}
