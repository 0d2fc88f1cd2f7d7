/*
 * The policy `ers`: the elastic runtime scheduler of I. A. Compres Urena (TU Munich 2017, chapter 10.3), with the
 * elastic batch scheduler that it was to have (16.2). docs/internals/decisions/ers.md has where it differs.
 */
#include <stddef.h>
#include <stdlib.h>

#include "scheduler/policies/ers_fill.h"
#include "scheduler/policies/ers_offer.h"
#include "scheduler/policies/ers_options.h"
#include "scheduler/policies/ers_queue.h"
#include "scheduler/policies/ers_reserve.h"
#include "scheduler/policies/ers_sizes.h"
#include "scheduler/policies/ers_view.h"
#include "scheduler/policies/policies.h"

/* The resource scaling vector. */
static void resize(const struct ers_view *view)
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
static void wake(const struct ers_view *view)
{
    for (int i = 0; i < view->count; i++) {
        const epop_policy_job_t *job = view->entries[i].job;
        if (can_change(job)) {
            epop_plan_wake(view->plan, ers_next_evaluation(view->settings, view->state->now));
            return;
        }
    }
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct ers_view view;
    if (ers_view_open(&view, settings, state, plan))
        return;
    ers_offer_mandatory(&view);
    int head = ers_queue_start(&view);
    struct ers_gap gap = ers_reserve(&view, head);
    ers_queue_backfill(&view, head, &gap);
    ers_fill(&view, &gap);
    resize(&view);
    wake(&view);
    ers_view_close(&view);
}

static int open_settings(void **settings)
{
    *settings = ers_settings_new();
    return *settings ? 0 : -1;
}

static int set_option(void *settings, const char *name, const char *value)
{
    return ers_settings_set(settings, name, value);
}

const epop_policy_t policy_ers = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof(epop_policy_t),
    .name = "ers",
    .summary = "jobs are started, shrunk and grown by MTCT, MPI time over compute time",
    .options = ers_options,
    .open = open_settings,
    .option = set_option,
    .decide = decide,
    .close = free,
};
