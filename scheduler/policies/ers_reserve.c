/*
 * The first rule of elastic backfilling. The set that is balanced has the jobs that end until the waiting one can
 * start: without that it would wait for the last of them. It is balanced only if that is worth the adaptations.
 */
#include "scheduler/policies/ers_reserve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/policies/ers_balance.h"
#include "scheduler/policies/ers_sizes.h"

#define NOTABLE 0.05 /* of the wait: what is less may be an error of the estimates */

struct set {
    struct ers_entry **entries; /* longest first */
    int count, nodes;
    double cost;
};

/* Those that end before the job can start, and may have another size. -1: no memory. */
static int select_set(const struct ers_view *view, int ended, struct set *set)
{
    *set = (struct set){.entries = malloc((size_t)(ended + 1) * sizeof(*set->entries))};
    if (!set->entries)
        return -1;
    for (int i = ended - 1; i >= 0; i--) {
        struct ers_entry *entry = view->order[i];
        if (!ers_is_free(entry))
            continue;
        set->entries[set->count++] = entry;
        set->nodes += entry->nodes;
        set->cost = fmax(set->cost, entry->cost);
    }
    return 0;
}

static double mtct_of(const struct ers_entry *entry)
{
    return entry->range.sample ? entry->range.sample->mtct : 0;
}

static int fit_between(const struct ers_entry *entry, int low, double nodes)
{
    int fit = ers_fit(entry->job, (int)floor(nodes + 1e-9));
    return fit > low ? fit : low;
}

/* The targets of the set; what rounding leaves over goes to those that end last. Only an evaluation may reduce. */
static int share_out(const struct ers_view *view, const struct set *set, struct ers_share *shares)
{
    int left = set->nodes + view->idle;
    for (int i = 0; i < set->count; i++) {
        const struct ers_entry *entry = set->entries[i];
        int low = view->evaluation ? entry->range.low : entry->nodes;
        shares[i] = (struct ers_share){.work = entry->work, .low = low, .high = entry->range.high};
    }
    ers_balance(shares, set->count, left);
    for (int i = 0; i < set->count; i++) {
        set->entries[i]->target = fit_between(set->entries[i], shares[i].low, shares[i].nodes);
        left -= set->entries[i]->target;
    }
    return left;
}

static int longest_first(const void *left, const void *right)
{
    const struct ers_entry *a = *(struct ers_entry *const *)left, *b = *(struct ers_entry *const *)right;
    double first = ers_remaining(a), second = ers_remaining(b);
    return first == second ? (a->job->id > b->job->id) - (a->job->id < b->job->id)
                           : (first < second) - (first > second);
}

/* Returns what remains. */
static int share_rest(const struct set *set, int left)
{
    qsort(set->entries, (size_t)set->count, sizeof(*set->entries), longest_first);
    for (int i = 0; i < set->count && left > 0; i++) {
        struct ers_entry *entry = set->entries[i];
        int most = entry->target + left;
        int fit = fit_between(entry, entry->target, most < entry->range.high ? most : entry->range.high);
        left -= fit - entry->target;
        entry->target = fit;
    }
    return left;
}

static void undo(const struct set *set)
{
    for (int i = 0; i < set->count; i++)
        set->entries[i]->target = set->entries[i]->nodes;
}

/* When the job can start with the new targets; `left` nodes are over. */
static double balanced_start(struct ers_view *view, int size, int left)
{
    int idle = view->idle;
    view->idle = left;
    struct ers_gap gap = ers_gap_find(view, size);
    view->idle = idle;
    return gap.start;
}

/* A growth for which there are not enough idle nodes is ordered when the others have given theirs back. */
static void settle(struct ers_view *view, const struct set *set, int left)
{
    for (int i = 0; i < set->count; i++) {
        struct ers_entry *entry = set->entries[i];
        int more = entry->target - entry->nodes;
        entry->later = more > view->idle;
        if (more > 0)
            view->idle -= more < view->idle ? more : view->idle;
    }
    view->coming += left - view->idle;
}

static void explain(const struct set *set, const struct ers_gap *before, double start, const epop_policy_job_t *job)
{
    for (int i = 0; i < set->count; i++)
        snprintf(set->entries[i]->why, sizeof set->entries[i]->why,
                 "time balancing of %d job%s, MTCT %.2g: %s can start in %.0f s, not in %.0f s", set->count,
                 set->count > 1 ? "s" : "", mtct_of(set->entries[i]), job->name, start, before->start);
}

static void balance_set(struct ers_view *view, const struct set *set, struct ers_share *shares,
                        const struct ers_gap *gap, const epop_policy_job_t *job)
{
    int left = share_rest(set, share_out(view, set, shares));
    double start = balanced_start(view, gap->size, left), gain = gap->start - start;
    if (gain <= view->settings->worth * set->cost || gain <= NOTABLE * gap->start) {
        undo(set);
        return;
    }
    settle(view, set, left);
    explain(set, gap, start, job);
}

static void balance(struct ers_view *view, const struct ers_gap *gap, const epop_policy_job_t *job)
{
    struct set set;
    if (select_set(view, gap->ended, &set))
        return;
    struct ers_share *shares = malloc((size_t)(set.count + 1) * sizeof *shares);
    if (shares && set.count > 0 && set.count + view->idle > 1)
        balance_set(view, &set, shares, gap, job);
    free(shares);
    free(set.entries);
}

struct ers_gap ers_reserve(struct ers_view *view, int head)
{
    if (head >= view->state->waiting_count)
        return ers_gap_none();
    const epop_policy_job_t *job = view->state->waiting[head];
    struct ers_gap gap = ers_gap_best(view, job);
    int idle = view->idle;
    if (view->grows && view->settings->balance && isfinite(gap.start)) {
        balance(view, &gap, job);
        gap = ers_gap_find(view, gap.size);
    }
    if (isfinite(gap.start))
        epop_plan_reserve(view->plan, job, gap.size, view->state->now + gap.start,
                          "starts on %d nodes, %d are idle; %d job%s by then", gap.size, idle, gap.ended,
                          gap.ended == 1 ? " ends" : "s end");
    return gap;
}
