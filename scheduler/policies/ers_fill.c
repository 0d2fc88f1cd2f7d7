/*
 * Resource filling: jobs by their time left, longest first, each up to the end of its range. The first job that waits
 * keeps its reservation: one that runs on after it takes only nodes that are over then.
 */
#include "scheduler/policies/ers_fill.h"

#include <stdio.h>

#include "scheduler/policies/ers_sizes.h"

static void explain(const struct ers_view *view, struct ers_entry *entry)
{
    char model[64];
    ers_range_text(view->settings, entry->job, &entry->range, model, sizeof model);
    snprintf(entry->why, sizeof entry->why, "%s, %d nodes idle, a resize costs %.2g s of %.0f s left", model,
             view->idle, entry->cost, entry->work / entry->nodes);
}

static void fill(struct ers_view *view, struct ers_entry *entry, struct ers_gap *gap)
{
    bool ends_before = entry->work / entry->nodes <= gap->start;
    int more = ends_before || view->idle < gap->extra ? view->idle : gap->extra;
    int most = entry->nodes + more < entry->range.high ? entry->nodes + more : entry->range.high;
    int fit = ers_fit(entry->job, most);
    if (fit <= entry->nodes)
        return;
    explain(view, entry);
    entry->target = fit;
    view->idle -= fit - entry->nodes;
    gap->extra -= ends_before ? 0 : fit - entry->nodes;
}

/* What a program asks for is no filling. */
static bool is_candidate(const struct ers_view *view, const struct ers_entry *entry)
{
    return ers_is_free(entry) && (view->settings->fill || !entry->range.sample);
}

void ers_fill(struct ers_view *view, const struct ers_gap *gap)
{
    struct ers_gap left = *gap;
    if (view->idle <= 0)
        return;
    ers_sort_longest_first(view);
    for (int i = 0; i < view->count && view->idle > 0; i++) {
        if (is_candidate(view, view->order[i]))
            fill(view, view->order[i], &left);
    }
}
