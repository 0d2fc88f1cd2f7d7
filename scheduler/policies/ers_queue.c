/*
 * The batch part. A job takes the largest size up to what its user asked for. It does not start on less than half of
 * what it can have as soon as resizes that are under way have committed.
 */
#include "scheduler/policies/ers_queue.h"

#include <math.h>

#include "scheduler/policies/ers_offer.h"
#include "scheduler/policies/ers_sizes.h"

static bool is_moldable(const struct ers_view *view, const epop_policy_job_t *job)
{
    return view->settings->moldable && job->kind != EPOP_RIGID;
}

int ers_queue_need(const struct ers_view *view, const epop_policy_job_t *job)
{
    return is_moldable(view, job) ? ers_least(job) : ers_wanted(job);
}

/* The size at which it would start on so many nodes; 0: it would not. */
static int size_on(const struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    int wanted = ers_wanted(job);
    if (wanted <= nodes)
        return wanted;
    return is_moldable(view, job) ? ers_fit(job, nodes) : 0;
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

/* From nodes that are idle, or that come in a moment. */
static bool place(struct ers_view *view, const epop_policy_job_t *job)
{
    int now = size_on(view, job, view->idle);
    int soon = size_on(view, job, view->idle + view->coming);
    if (now > 0 && 2 * now >= soon)
        start(view, job, now, "");
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

int ers_queue_start(struct ers_view *view)
{
    const epop_policy_job_t *const *waiting = view->state->waiting;
    int i = 0, count = view->state->waiting_count;
    while (i < count && place(view, waiting[i]))
        i++;
    if (i < count && ers_offer_open(view, ers_queue_need(view, waiting[i]))) {
        while (i < count && (place(view, waiting[i]) || offer(view, waiting[i])))
            i++;
    }
    return i;
}

static void backfill(struct ers_view *view, const epop_policy_job_t *job, struct ers_gap *gap)
{
    int size = size_on(view, job, view->idle);
    double seconds = job->left > 0 ? job->left : job->limit;
    if (size > 0 && seconds * job->wanted / size <= gap->start) {
        start(view, job, size, ", and it ends before an earlier job can start");
        return;
    }
    size = size_on(view, job, view->idle < gap->extra ? view->idle : gap->extra);
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
