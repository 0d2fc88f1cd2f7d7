/* The resource offer: mandatory reductions always, optional ones for a job that would have to wait, longest first. */
#include "scheduler/policies/ers_offer.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/policies/ers_gap.h"
#include "scheduler/policies/ers_sizes.h"

static void reduce(struct ers_view *view, struct ers_entry *entry, int nodes)
{
    entry->target = nodes;
    view->coming += entry->nodes - nodes;
}

void ers_offer_mandatory(struct ers_view *view)
{
    for (int i = 0; i < view->count; i++) {
        struct ers_entry *entry = &view->entries[i];
        bool asked = !entry->range.sample;
        if (entry->range.verdict != ERS_REDUCED || !(view->evaluation || asked))
            continue;
        ers_range_text(view->settings, entry->job, &entry->range, entry->why, sizeof entry->why);
        reduce(view, entry, entry->range.low);
    }
}

/* Whether it can do with less. */
static bool can_spare(const struct ers_entry *entry)
{
    return ers_is_free(entry) && entry->range.low < entry->nodes;
}

int ers_offer_size(const struct ers_view *view)
{
    return view->spare;
}

/* What the job would win, in seconds: by a start with all that can be spared, over the best without it. */
static double gain(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_gap best = ers_gap_best(view, job);
    int size = ers_size_on(job, view->idle + view->coming + view->spare, view->settings->moldable);
    if (!size)
        return 0;
    return best.size ? best.start + ers_work(job) / best.size - ers_work(job) / size : INFINITY;
}

bool ers_offer_open(struct ers_view *view, const epop_policy_job_t *job)
{
    double cost = 0;
    for (int i = 0; view->evaluation && i < view->count; i++) {
        const struct ers_entry *entry = &view->entries[i];
        if (!can_spare(entry))
            continue;
        view->spare += entry->nodes - entry->range.low;
        cost = fmax(cost, entry->cost);
    }
    if (view->spare && gain(view, job) <= view->settings->worth * cost)
        view->spare = 0;
    ers_sort_longest_first(view);
    return view->spare > 0;
}

static void spare(struct ers_view *view, struct ers_entry *entry, int nodes, const epop_policy_job_t *job)
{
    int left = ers_fit(entry->job, entry->nodes - nodes);
    snprintf(entry->why, sizeof entry->why, "MTCT %.2g below %g: it can do with less, and %s waits for nodes",
             entry->range.sample->mtct, view->settings->lower, job->name);
    view->spare -= entry->nodes - entry->range.low;
    reduce(view, entry, left > entry->range.low ? left : entry->range.low);
}

void ers_offer_take(struct ers_view *view, int nodes, const epop_policy_job_t *job)
{
    int coming = view->coming;
    for (; view->spared < view->count && view->coming - coming < nodes; view->spared++) {
        struct ers_entry *entry = view->order[view->spared];
        if (can_spare(entry))
            spare(view, entry, nodes - (view->coming - coming), job);
    }
}
