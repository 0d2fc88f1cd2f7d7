/*
 * What the steps of one decision share. Evaluations are at the multiples of the period of the state's clock: a decision
 * has no memory, so that the state alone has to say when one is due. One hundredth of the period is its tolerance.
 */
#include "scheduler/policies/ers_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/ers_sizes.h"

#define TOLERANCE  0.01
#define LEAST_LEFT 0.001 /* seconds */

static bool is_due(const struct ers_settings *settings, double now)
{
    double periods = now / settings->period;
    return fabs(periods - round(periods)) <= TOLERANCE;
}

double ers_next_evaluation(const struct ers_settings *settings, double now)
{
    return (floor(now / settings->period + TOLERANCE) + 1) * settings->period;
}

double ers_remaining(const struct ers_entry *entry)
{
    bool adapts = entry->job->nodes > 0 && entry->target != entry->job->nodes;
    return entry->work / entry->target + (adapts ? entry->cost : 0);
}

/* Its time left is large enough for an adaptation. */
static bool is_worth(const struct ers_view *view, const struct ers_entry *entry)
{
    return entry->work / entry->nodes > view->settings->worth * entry->cost;
}

bool ers_is_free(const struct ers_entry *entry)
{
    return entry->range.verdict == ERS_FREE && entry->target == entry->nodes;
}

static struct ers_entry *append(struct ers_view *view, const epop_policy_job_t *job)
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

/* One that is past its limit ends any moment. */
static void append_running(struct ers_view *view, const epop_policy_job_t *job)
{
    struct ers_entry *entry = append(view, job);
    bool holds_more = is_stuck(job) && job->nodes > job->target;
    entry->work = fmax(job->left, LEAST_LEFT) * job->nodes;
    entry->cost = ers_cost(view->state, job);
    entry->nodes = entry->target = holds_more ? job->nodes : job->target;
    view->coming += !holds_more && job->nodes > job->target ? job->nodes - job->target : 0;
}

void ers_view_add(struct ers_view *view, const epop_policy_job_t *job, int nodes)
{
    struct ers_entry *entry = append(view, job);
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
        if (job->state == EPOP_POLICY_ADAPTS && !is_stuck(job))
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
    if (is_rigid_soon(entry) || (range.sample && !(view->grows && is_worth(view, entry))))
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

/* Every job that is given nodes takes one at least. */
int ers_view_open(struct ers_view *view, const struct ers_settings *settings, const epop_policy_state_t *state,
                  epop_plan_t *plan)
{
    int most = state->waiting_count < state->node_count ? state->waiting_count : state->node_count;
    size_t room = (size_t)state->running_count + (size_t)most + 1;
    *view = (struct ers_view){.settings = settings, .state = state, .plan = plan};
    view->entries = malloc(room * sizeof *view->entries);
    view->order = malloc(room * sizeof(*view->order));
    if (!view->entries || !view->order) {
        ers_view_close(view);
        return -1;
    }
    view->idle = state->idle;
    for (int i = 0; i < state->running_count; i++)
        append_running(view, state->running[i]);
    set_moment(view);
    return 0;
}

void ers_view_close(struct ers_view *view)
{
    free(view->entries);
    free(view->order);
}

static int by_id(const struct ers_entry *a, const struct ers_entry *b)
{
    return (a->job->id > b->job->id) - (a->job->id < b->job->id);
}

static int by_end(const void *left, const void *right)
{
    const struct ers_entry *a = *(struct ers_entry *const *)left, *b = *(struct ers_entry *const *)right;
    double first = ers_remaining(a), second = ers_remaining(b);
    return first == second ? by_id(a, b) : (first > second) - (first < second);
}

static int longest_first(const void *left, const void *right)
{
    const struct ers_entry *a = *(struct ers_entry *const *)left, *b = *(struct ers_entry *const *)right;
    double first = ers_remaining(a), second = ers_remaining(b);
    return first == second ? by_id(a, b) : (first < second) - (first > second);
}

void ers_sort_by_end(struct ers_view *view)
{
    qsort(view->order, (size_t)view->count, sizeof(*view->order), by_end);
}

void ers_sort_longest_first(struct ers_view *view)
{
    qsort(view->order, (size_t)view->count, sizeof(*view->order), longest_first);
}
