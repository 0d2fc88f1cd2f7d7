/*
 * The policy `ers`: the elastic runtime scheduler of I. A. Compres Urena (TU Munich 2017, chapter 10.3), with the
 * elastic batch scheduler that it was to have (16.2). docs/internals/decisions/ers.md has where it differs.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/ers_model.h"
#include "scheduler/policies/gain_growth.h"
#include "scheduler/policies/gain_queue.h"
#include "scheduler/policies/policies.h"

/* ---- The view of one decision ------------------------------------------------------------------- */

/* What the steps of a decision share: the running jobs with their ranges, and the nodes that are left. */

/* A job that runs, or that this decision gives nodes. */
struct ers_entry {
    const epop_policy_job_t *job;
    struct ers_range range;
    double work;   /* node seconds that are left */
    double cost;   /* seconds of an adaptation */
    int nodes;     /* that it has; when it adapts: will have */
    int target;    /* that it is to have: an entry of the resource scaling vector */
    bool later;    /* a growth for which nodes have to be given back first */
    char why[160]; /* of the target, if it is another */
};

struct ers_view {
    const struct ers_settings *settings;
    const epop_policy_state_t *state;
    epop_plan_t *plan;
    struct ers_entry *entries;
    struct ers_entry **order; /* as last sorted */
    int count;
    int idle;   /* nodes that are for nobody yet */
    int coming; /* likewise, but a resize has to give them back first */
    int spare;  /* nodes that optional reductions would still give, from view->order[spared] on */
    int spared;
    bool evaluation; /* all is steady, and it is time: jobs may shrink and grow */
    bool grows;      /* that, or it has just become steady: jobs may grow */
};

/*
 * Evaluations are at the multiples of the period on the state's clock: a decision has no memory, so the state alone has
 * to say when one is due. One hundredth of the period is tolerated.
 */
#define TOLERANCE  0.01
#define LEAST_LEFT 0.001 /* seconds */

static bool is_due(const struct ers_settings *settings, double now)
{
    double periods = now / settings->period;
    return fabs(periods - round(periods)) <= TOLERANCE;
}

/* The seconds of the first evaluation after now. */
static double next_evaluation(const struct ers_settings *settings, double now)
{
    return (floor(now / settings->period + TOLERANCE) + 1) * settings->period;
}

/* Seconds until it ends at its target, if it scales linearly; with weak scaling they are the same at each size. */
static double remaining_seconds(const struct ers_entry *entry)
{
    bool adapts = entry->job->nodes > 0 && entry->target != entry->job->nodes;
    int nodes = entry->job->weak && entry->job->nodes > 0 ? entry->job->nodes : entry->target;
    return entry->work / nodes + (adapts ? entry->cost : 0);
}

/* Its time left is large enough for an adaptation. */
static bool is_worth(const struct ers_view *view, const struct ers_entry *entry)
{
    return entry->work / entry->nodes > view->settings->worth * entry->cost;
}

/* It may be given another size between low and high, and was not by now. */
static bool is_free(const struct ers_entry *entry)
{
    return entry->range.verdict == ERS_FREE && entry->target == entry->nodes;
}

static struct ers_entry *append_entry(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_entry *entry = &view->entries[view->count];
    memset(entry, 0, sizeof *entry);
    entry->job = job;
    view->order[view->count++] = entry;
    return entry;
}

/* A resize that was decided too late for the elastic phase waits for the next one: it is as if it were not. */
static bool is_stuck(const epop_policy_job_t *job)
{
    return job->state == EPOP_POLICY_ADAPTS && !ers_is_elastic(job);
}

/* It keeps its nodes, and is soon as it was: nobody waits for it. */
static bool is_balancing(const epop_policy_job_t *job)
{
    return job->state == EPOP_POLICY_ADAPTS && job->target == job->nodes;
}

/* One that is past its limit ends any moment. */
static void append_running(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_entry *entry = append_entry(view, job);
    bool holds_more = is_stuck(job) && job->nodes > job->target;
    entry->work = fmax(job->left, LEAST_LEFT) * job->nodes;
    entry->cost = ers_cost(view->state, job);
    entry->nodes = entry->target = holds_more ? job->nodes : job->target;
    view->coming += !holds_more && job->nodes > job->target ? job->nodes - job->target : 0;
}

/* A waiting job has got nodes. */
static void add_started(struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    struct ers_entry *entry = append_entry(view, job);
    entry->work = ers_work(job);
    entry->nodes = entry->target = nodes;
}

/* The steady state: nothing adapts. `since`: it has just been reached, by the commit of the last resize. */
static bool is_steady(const struct ers_view *view, bool *since)
{
    double least = view->state->now - TOLERANCE * view->settings->period;
    *since = false;
    for (int i = 0; i < view->state->running_count; i++) {
        const epop_policy_job_t *job = view->state->running[i];
        if (job->state == EPOP_POLICY_ADAPTS && !is_stuck(job) && !is_balancing(job))
            return false;
        *since = *since || (job->resizes > 0 && job->resized >= least);
    }
    return true;
}

/* It would be too late before the next rigid phase. */
static bool is_rigid_soon(const struct ers_entry *entry)
{
    const epop_policy_phase_t *next = entry->job->phase_count > 1 ? &entry->job->phases[1] : NULL;
    return next && !next->elastic && next->begins >= 0 && next->begins <= entry->cost;
}

/* What a program asks for is looked at when all is steady, what was measured at the moments for that. */
static void set_range(const struct ers_view *view, struct ers_entry *entry)
{
    struct ers_range range = ers_range_of(view->settings, entry->job, view->state->now);
    if (is_balancing(entry->job) || is_rigid_soon(entry) || (range.sample && !(view->grows && is_worth(view, entry))))
        return;
    entry->range = range;
}

static void set_moment(struct ers_view *view)
{
    bool since, steady = is_steady(view, &since);
    view->evaluation = steady && is_due(view->settings, view->state->now);
    view->grows = view->evaluation || (steady && since);
    for (int i = 0; steady && i < view->count; i++) {
        if (view->grows || view->entries[i].job->asked > 0)
            set_range(view, &view->entries[i]);
    }
}

static void close_view(struct ers_view *view)
{
    free(view->entries);
    free(view->order);
}

/* Every job that is given nodes takes one at least. */
static int open_view(struct ers_view *view, const struct ers_settings *settings, const epop_policy_state_t *state,
                     epop_plan_t *plan)
{
    int most = state->waiting_count < state->node_count ? state->waiting_count : state->node_count;
    size_t room = (size_t)state->running_count + (size_t)most + 1;
    *view = (struct ers_view){.settings = settings, .state = state, .plan = plan};
    view->entries = malloc(room * sizeof *view->entries);
    view->order = malloc(room * sizeof(*view->order));
    if (!view->entries || !view->order) {
        close_view(view);
        return -1;
    }
    view->idle = state->idle;
    for (int i = 0; i < state->running_count; i++)
        append_running(view, state->running[i]);
    set_moment(view);
    return 0;
}

static int by_id(const struct ers_entry *a, const struct ers_entry *b)
{
    return (a->job->id > b->job->id) - (a->job->id < b->job->id);
}

static int by_end(const void *left, const void *right)
{
    const struct ers_entry *a = *(struct ers_entry *const *)left, *b = *(struct ers_entry *const *)right;
    double first = remaining_seconds(a), second = remaining_seconds(b);
    return first == second ? by_id(a, b) : (first > second) - (first < second);
}

static int longest_first(const void *left, const void *right)
{
    const struct ers_entry *a = *(struct ers_entry *const *)left, *b = *(struct ers_entry *const *)right;
    double first = remaining_seconds(a), second = remaining_seconds(b);
    return first == second ? by_id(a, b) : (first < second) - (first > second);
}

/* Sorts view->order. */
static void sort_by_end(struct ers_view *view)
{
    qsort(view->order, (size_t)view->count, sizeof(*view->order), by_end);
}

static void sort_longest_first(struct ers_view *view)
{
    qsort(view->order, (size_t)view->count, sizeof(*view->order), longest_first);
}

/* ---- When the first job that waits can start ---------------------------------------------------- */

/*
 * If running ones end as estimated and nothing else takes their nodes; and what later ones may take without delaying
 * it: the shadow time of EASY.
 */
struct ers_gap {
    double start; /* seconds from now until it has its nodes; infinite: nobody waits, or they never come */
    int size;     /* of the job, then */
    int extra;    /* nodes that are over then */
    int ended;    /* entries of view->order that end until then */
};

/* A walk through the ends of the running jobs. */
struct walk {
    double time;
    int nodes, ended;
};

/* Nobody waits. */
static struct ers_gap no_gap(void)
{
    return (struct ers_gap){.start = INFINITY, .extra = INT_MAX};
}

static struct walk begin_walk(struct ers_view *view)
{
    sort_by_end(view);
    return (struct walk){.nodes = view->idle + view->coming};
}

/* To the next end, and all at that time. False: there is none. */
static bool next_end(const struct ers_view *view, struct walk *walk)
{
    if (walk->ended >= view->count)
        return false;
    walk->time = remaining_seconds(view->order[walk->ended]);
    while (walk->ended < view->count && remaining_seconds(view->order[walk->ended]) <= walk->time)
        walk->nodes += view->order[walk->ended++]->target;
    return true;
}

static struct ers_gap gap_at(const struct walk *walk, int size)
{
    return (struct ers_gap){.start = walk->time, .size = size, .extra = walk->nodes - size, .ended = walk->ended};
}

/* When so many nodes are there. Sorts view->order by end. */
static struct ers_gap find_gap(struct ers_view *view, int size)
{
    struct walk walk = begin_walk(view);
    while (walk.nodes < size) {
        if (!next_end(view, &walk))
            return no_gap();
    }
    return gap_at(&walk, size);
}

/* The time and the size with which the job ends first. Likewise. */
static struct ers_gap best_gap(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_gap best = no_gap();
    struct walk walk = begin_walk(view);
    double end = INFINITY, work = ers_work(job);
    int wanted = ers_wanted(view->settings, job), size;
    do {
        size = ers_size_on(view->settings, job, walk.nodes);
        if (size > 0 && walk.time + work / size < end) {
            best = gap_at(&walk, size);
            end = walk.time + work / size;
        }
    } while (size != wanted && next_end(view, &walk));
    return best;
}

/* ---- The resource offer ------------------------------------------------------------------------- */

/*
 * What running jobs have to give back (mandatory reductions), and what they can do without when an earlier job would
 * have to wait (optional reductions, longest job first); dissertation 10.3.1, steps 3 and 4, and 16.2.
 */

static void reduce_to(struct ers_view *view, struct ers_entry *entry, int nodes)
{
    entry->target = nodes;
    view->coming += entry->nodes - nodes;
}

/* The mandatory reductions. */
static void reduce_mandatory(struct ers_view *view)
{
    for (int i = 0; i < view->count; i++) {
        struct ers_entry *entry = &view->entries[i];
        bool asked = !entry->range.sample;
        if (entry->range.verdict != ERS_REDUCED || !(view->evaluation || asked))
            continue;
        ers_range_text(view->settings, entry->job, &entry->range, entry->why, sizeof entry->why);
        reduce_to(view, entry, entry->range.low);
    }
}

/* Whether it can do with less. */
static bool can_spare(const struct ers_entry *entry)
{
    return is_free(entry) && entry->range.low < entry->nodes;
}

/* What the job would win, in seconds: by a start with all that can be spared, over the best without it. */
static double seconds_won(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_gap best = best_gap(view, job);
    int size = ers_size_on(view->settings, job, view->idle + view->coming + view->spare);
    if (!size)
        return 0;
    return best.size ? best.start + ers_work(job) / best.size - ers_work(job) / size : INFINITY;
}

/* Whether optional reductions are in question for a job that waits: with them it ends earlier by enough. Sets
 * view->spare. */
static bool open_offer(struct ers_view *view, const epop_policy_job_t *job)
{
    double cost = 0;
    for (int i = 0; view->evaluation && i < view->count; i++) {
        const struct ers_entry *entry = &view->entries[i];
        if (!can_spare(entry))
            continue;
        view->spare += entry->nodes - entry->range.low;
        cost = fmax(cost, entry->cost);
    }
    if (view->spare && seconds_won(view, job) <= view->settings->worth * cost)
        view->spare = 0;
    sort_longest_first(view);
    return view->spare > 0;
}

static void spare_nodes(struct ers_view *view, struct ers_entry *entry, int nodes, const epop_policy_job_t *job)
{
    int left = ers_fit(entry->job, entry->nodes - nodes);
    snprintf(entry->why, sizeof entry->why, "MTCT %.2g below %g: it can do with less, and %s waits for nodes",
             entry->range.sample->mtct, view->settings->lower, job->name);
    view->spare -= entry->nodes - entry->range.low;
    reduce_to(view, entry, left > entry->range.low ? left : entry->range.low);
}

/* Reduces jobs until that many nodes more are coming; at most view->spare. */
static void take_from_offer(struct ers_view *view, int nodes, const epop_policy_job_t *job)
{
    int coming = view->coming;
    for (; view->spared < view->count && view->coming - coming < nodes; view->spared++) {
        struct ers_entry *entry = view->order[view->spared];
        if (can_spare(entry))
            spare_nodes(view, entry, nodes - (view->coming - coming), job);
    }
}

/* ---- The queue ---------------------------------------------------------------------------------- */

/*
 * The batch part (dissertation 16.2): waiting jobs start in the order in which they came. A job gets what its user
 * asked for, or less if it ends no later so than by waiting for more. One that can grow is not held to that: it may do
 * with a quarter, which two doublings make good.
 */

static int size_for(const struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    return ers_size_on(view->settings, job, nodes);
}

#define GROWTH 4

/* On so many nodes, beside an end that waiting would give it. */
static bool is_soon_enough(const epop_policy_job_t *job, int size, double end)
{
    return ers_work(job) / size <= end * (job->kind >= EPOP_MALLEABLE ? GROWTH : 1);
}

static void take_nodes(struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    int idle = nodes < view->idle ? nodes : view->idle;
    view->idle -= idle;
    view->coming -= nodes - idle;
    add_started(view, job, nodes);
}

static void start_now(struct ers_view *view, const epop_policy_job_t *job, int nodes, const char *why)
{
    if (nodes == job->wanted)
        epop_plan_start(view->plan, job, nodes, "%d nodes wanted, %d idle%s", job->wanted, view->idle, why);
    else if (job->earlier && nodes == ers_wanted(view->settings, job) && nodes < ers_fit(job, job->wanted))
        epop_plan_start(view->plan, job, nodes,
                        "%d of the %d nodes wanted, as with more job %lld of this program had an MTCT above %g: %d "
                        "idle%s",
                        nodes, job->wanted, (long long)job->earlier, view->settings->upper, view->idle, why);
    else
        epop_plan_start(view->plan, job, nodes, "%d of the %d nodes wanted: %d idle%s", nodes, job->wanted, view->idle,
                        why);
    take_nodes(view, job, nodes);
}

/* What it is to have of the nodes that are idle, or that resizes under way give back in a moment; 0: it waits. */
static int size_soon(struct ers_view *view, const epop_policy_job_t *job)
{
    int size = size_for(view, job, view->idle + view->coming);
    if (size <= 0 || size == ers_wanted(view->settings, job))
        return size;
    struct ers_gap best = best_gap(view, job);
    return is_soon_enough(job, size, best.start + ers_work(job) / best.size) ? size : 0;
}

/* Half of it now is better than all in a moment, as resizes may be refused. */
static bool place_job(struct ers_view *view, const epop_policy_job_t *job)
{
    int now = size_for(view, job, view->idle), soon = size_soon(view, job);
    if (soon > 0 && 2 * now >= soon)
        start_now(view, job, now < soon ? now : soon, "");
    else if (soon > 0)
        take_nodes(view, job, soon);
    return soon > 0;
}

/* From what running jobs can do without, too: they give it back first. */
static bool place_from_offer(struct ers_view *view, const epop_policy_job_t *job)
{
    int here = view->idle + view->coming;
    int size = size_for(view, job, here + view->spare);
    if (size <= here)
        return false;
    take_from_offer(view, size - here, job);
    take_nodes(view, job, size);
    return true;
}

/* Nodes that are down may come back: it keeps its place, and lets the others pass. */
static bool is_too_large(const struct ers_view *view, const epop_policy_job_t *job)
{
    return !size_for(view, job, view->state->node_count - view->state->down);
}

/* Starts jobs, or sets nodes aside that come for them, until one does not fit. Returns its place in the queue, or the
 * queue's length. */
static int start_waiting(struct ers_view *view)
{
    const epop_policy_job_t *const *waiting = view->state->waiting;
    int i = 0, count = view->state->waiting_count;
    while (i < count && (place_job(view, waiting[i]) || is_too_large(view, waiting[i])))
        i++;
    if (i >= count || !open_offer(view, waiting[i]))
        return i;
    while (i < count &&
           (place_from_offer(view, waiting[i]) || place_job(view, waiting[i]) || is_too_large(view, waiting[i])))
        i++;
    return i;
}

/* Where it does not end before, it is as if it started together with the first. */
static int size_beside(const struct ers_view *view, const epop_policy_job_t *job, const struct ers_gap *gap)
{
    int size = size_for(view, job, view->idle < gap->extra ? view->idle : gap->extra);
    return size > 0 && is_soon_enough(job, size, gap->start + ers_work(job) / ers_wanted(view->settings, job)) ? size
                                                                                                               : 0;
}

static void backfill_job(struct ers_view *view, const epop_policy_job_t *job, struct ers_gap *gap)
{
    int size = size_for(view, job, view->idle);
    if (size > 0 && ers_work(job) / size <= gap->start) {
        start_now(view, job, size, ", and it ends before an earlier job can start");
        return;
    }
    size = size_beside(view, job, gap);
    if (size <= 0)
        return;
    start_now(view, job, size, ", and an earlier job does not need these");
    gap->extra -= size;
}

/* Starts jobs behind the first that waits, where they do not delay it. */
static void backfill_behind(struct ers_view *view, int head, struct ers_gap *gap)
{
    for (int i = head + 1; i < view->state->waiting_count && view->idle > 0; i++)
        backfill_job(view, view->state->waiting[i], gap);
}

/* ---- The reservation, and time balancing -------------------------------------------------------- */

/*
 * The first rule of elastic backfilling (dissertation 10.3.3): a job that waits for lack of nodes gets a reservation,
 * and the running jobs whose nodes it waits for are time balanced, so that it starts earlier. These are the jobs that
 * end before it can start: without balancing it would wait for the last of them. They are balanced only if that is
 * worth the adaptations.
 */

#define NOTABLE 0.05 /* of the wait: what is less may be an error of the estimates */

struct set {
    struct ers_entry **entries; /* longest first */
    int count, nodes;
    double cost;
};

/* Those that end before the job can start, and sooner at another size, which they may have. -1: no memory. */
static int select_set(const struct ers_view *view, int ended, struct set *set)
{
    *set = (struct set){.entries = malloc((size_t)(ended + 1) * sizeof(*set->entries))};
    if (!set->entries)
        return -1;
    for (int i = ended - 1; i >= 0; i--) {
        struct ers_entry *entry = view->order[i];
        if (!is_free(entry) || entry->job->weak)
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

static void undo_set(const struct set *set)
{
    for (int i = 0; i < set->count; i++)
        set->entries[i]->target = set->entries[i]->nodes;
}

/* When the job can start with the new targets; `left` nodes are over. */
static double balanced_start(struct ers_view *view, int size, int left)
{
    int idle = view->idle;
    view->idle = left;
    struct ers_gap gap = find_gap(view, size);
    view->idle = idle;
    return gap.start;
}

/* A growth for which there are not enough idle nodes is ordered when the others have given theirs back. */
static void settle_set(struct ers_view *view, const struct set *set, int left)
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

static void explain_set(const struct set *set, const struct ers_gap *before, double start, const epop_policy_job_t *job)
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
        undo_set(set);
        return;
    }
    settle_set(view, set, left);
    explain_set(set, gap, start, job);
}

static void balance_for(struct ers_view *view, const struct ers_gap *gap, const epop_policy_job_t *job)
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

/* `head`: place in the queue of the first job that waits; the queue's length: none does. */
static struct ers_gap reserve_for_first(struct ers_view *view, int head)
{
    if (head >= view->state->waiting_count)
        return no_gap();
    const epop_policy_job_t *job = view->state->waiting[head];
    struct ers_gap gap = best_gap(view, job);
    int idle = view->idle;
    if (view->grows && view->settings->balance && isfinite(gap.start)) {
        balance_for(view, &gap, job);
        gap = find_gap(view, gap.size);
    }
    if (isfinite(gap.start))
        epop_plan_reserve(view->plan, job, gap.size, view->state->now + gap.start,
                          "starts on %d nodes, %d are idle; %d job%s by then", gap.size, idle, gap.ended,
                          gap.ended == 1 ? " ends" : "s end");
    return gap;
}

/* ---- Idle nodes --------------------------------------------------------------------------------- */

/*
 * Resource filling (dissertation 10.3.3): idle nodes go to running jobs that keep their efficiency with them, longest
 * first, each up to the end of its range. The first job that waits keeps its reservation: one that runs beyond it takes
 * only nodes that are over then.
 */

static void explain_growth(const struct ers_view *view, struct ers_entry *entry)
{
    char model[64];
    ers_range_text(view->settings, entry->job, &entry->range, model, sizeof model);
    snprintf(entry->why, sizeof entry->why, "%s, %d nodes idle, a resize costs %.2g s of %.0f s left", model,
             view->idle, entry->cost, entry->work / entry->nodes);
}

static void fill_entry(struct ers_view *view, struct ers_entry *entry, struct ers_gap *gap)
{
    bool ends_before = entry->work / entry->nodes <= gap->start;
    int more = ends_before || view->idle < gap->extra ? view->idle : gap->extra;
    int most = entry->nodes + more < entry->range.high ? entry->nodes + more : entry->range.high;
    int fit = ers_fit(entry->job, most);
    if (fit <= entry->nodes)
        return;
    explain_growth(view, entry);
    entry->target = fit;
    view->idle -= fit - entry->nodes;
    gap->extra -= ends_before ? 0 : fit - entry->nodes;
}

/* What a program asks for is no filling. Where somebody waits, nodes that only make work grow are not given. */
static bool is_candidate(const struct ers_view *view, const struct ers_entry *entry)
{
    bool fills = view->settings->fill && !(entry->job->weak && view->state->waiting_count > 0);
    return is_free(entry) && (fills || !entry->range.sample);
}

static void fill_idle(struct ers_view *view, const struct ers_gap *gap)
{
    struct ers_gap left = *gap;
    if (view->idle <= 0)
        return;
    sort_longest_first(view);
    for (int i = 0; i < view->count && view->idle > 0; i++) {
        if (is_candidate(view, view->order[i]))
            fill_entry(view, view->order[i], &left);
    }
}

/* ---- The plan ----------------------------------------------------------------------------------- */

/* The resource scaling vector. */
static void write_resizes(const struct ers_view *view)
{
    for (int i = 0; i < view->count; i++) {
        const struct ers_entry *entry = &view->entries[i];
        if (entry->target != entry->nodes && !entry->later)
            epop_plan_resize(view->plan, entry->job, entry->target, "%s", entry->why);
    }
}

/* Another size than it has, in the phase that it is in; one that adapts is asked about when that is over. */
static bool can_change(const epop_policy_job_t *job)
{
    const epop_policy_range_t *phase = job->phase_count > 0 ? &job->phases[0].range : &job->range;
    int most = phase->max < job->range.max ? phase->max : job->range.max;
    int least = phase->min > job->range.min ? phase->min : job->range.min;
    return job->state != EPOP_POLICY_ADAPTS && ers_is_elastic(job) &&
           (least < most || (job->nodes > 0 && least != job->nodes));
}

/* Nothing is measured or resized where no job can have another size. */
static void set_wake(const struct ers_view *view)
{
    for (int i = 0; i < view->count; i++) {
        const epop_policy_job_t *job = view->entries[i].job;
        if (can_change(job)) {
            epop_plan_wake(view->plan, next_evaluation(view->settings, view->state->now));
            return;
        }
    }
}

/* ---- Beside EASY backfilling -------------------------------------------------------------------- */

/*
 * With firm=1 the queue is that of the policy `gain`: no job starts later than EASY backfilling would start it. A job
 * that gave nodes for that gets them back as there, and its MTCT decides about what is beyond the nodes that its user
 * wants. Time balancing and optional reductions, which start the first job of the queue earlier, are not made.
 */

/* Those that the round has resized, and those whose programs' wishes it has served, keep what they have now. */
static void take_over(struct ers_view *view, const struct gain_round *round)
{
    view->idle = gain_round_is_collecting(round) ? 0 : round->free;
    for (int i = 0; i < round->running; i++) {
        struct ers_range *range = &view->entries[i].range;
        if (round->jobs[i].nodes != round->jobs[i].from || !range->sample)
            range->verdict = ERS_STAYS;
    }
}

/* Not below what its user wants; and promised starts reckon with the ends that jobs have at their sizes. */
static void bound_reductions(struct ers_view *view, bool promised)
{
    for (int i = 0; i < view->count; i++) {
        struct ers_entry *entry = &view->entries[i];
        int least = ers_fit(entry->job, entry->job->wanted);
        if (entry->range.verdict != ERS_REDUCED)
            continue;
        entry->range.low = least > entry->range.low ? least : entry->range.low;
        if (promised || entry->range.low >= entry->nodes)
            entry->range.verdict = ERS_STAYS;
    }
}

static void decide_sizes(struct ers_view *view, struct gain_round *round)
{
    struct ers_gap gap = no_gap();
    if (round->blocked)
        gap = (struct ers_gap){.start = round->shadow, .extra = round->extra};
    take_over(view, round);
    bound_reductions(view, gain_round_has_promised(round) || round->head);
    reduce_mandatory(view);
    fill_idle(view, &gap);
    write_resizes(view);
    set_wake(view);
}

static void decide_beside_easy(const struct ers_settings *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    struct ers_view view;
    if (gain_round_begin(&round, settings->starts, state, plan))
        return;
    gain_queue_serve(&round);
    gain_growth_give(&round, true);
    gain_queue_write(&round);
    if (!open_view(&view, settings, state, plan)) {
        decide_sizes(&view, &round);
        close_view(&view);
    }
    gain_round_end(&round);
}

/* ---- The policy --------------------------------------------------------------------------------- */

static void decide_as_published(const struct ers_settings *settings, const epop_policy_state_t *state,
                                epop_plan_t *plan)
{
    struct ers_view view;
    if (open_view(&view, settings, state, plan))
        return;
    reduce_mandatory(&view);
    int head = start_waiting(&view);
    struct ers_gap gap = reserve_for_first(&view, head);
    backfill_behind(&view, head, &gap);
    fill_idle(&view, &gap);
    write_resizes(&view);
    set_wake(&view);
    close_view(&view);
}

static int ers_follows_easy(const void *settings)
{
    return ((const struct ers_settings *)settings)->starts->firm > 0;
}

static void ers_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    if (gain_queue_is_firm(((const struct ers_settings *)settings)->starts, state))
        decide_beside_easy(settings, state, plan);
    else
        decide_as_published(settings, state, plan);
}

static int ers_open(void **settings)
{
    *settings = ers_settings_new();
    return *settings ? 0 : -1;
}

static int ers_set_option(void *settings, const char *name, const char *value)
{
    return ers_settings_set(settings, name, value);
}

static void ers_close(void *settings)
{
    ers_settings_free(settings);
}

const epop_policy_t policy_ers = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof(epop_policy_t),
    .name = "ers",
    .summary = "jobs start as with gain; beyond what users want MTCT sizes them, MPI time over compute time",
    .options = ers_options,
    .open = ers_open,
    .option = ers_set_option,
    .decide = ers_decide,
    .close = ers_close,
    .follows_easy = ers_follows_easy,
};
