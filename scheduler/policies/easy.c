/*
 * First come, first served, with EASY backfilling; every job at the nodes that its user asked for. The head of the
 * queue has a reservation; a job behind it starts before it if that does not delay it.
 *
 * D. Lifka, "The ANL/IBM SP scheduling system", 1995; A. Mu'alem and D. Feitelson, "Utilization, predictability,
 * workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", 2001.
 */
#include <stdlib.h>

#include "scheduler/policies/policies.h"

/* When nodes come free. */
struct release {
    double time;
    int nodes;
};

/* The head's reservation: when it has its nodes, and how many are idle then that it does not need. */
struct shadow {
    const epop_policy_job_t *head;
    double time;
    int extra;
};

static int by_time(const void *one, const void *other)
{
    const struct release *a = one, *b = other;
    return (a->time > b->time) - (a->time < b->time);
}

/* Starts from the head on what fits; a job that needs more nodes than can be busy lets the others pass. Returns the
 * place of the first that has to wait for nodes of others. */
static int start_in_order(const epop_policy_state_t *state, epop_plan_t *plan, struct release *releases, int *count)
{
    int i;
    for (i = 0; i < state->waiting_count; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        int idle = epop_plan_idle(plan);
        if (job->wanted > state->usable)
            continue;
        if (job->wanted > idle)
            break;
        if (epop_plan_start(plan, job, job->wanted, "first in the queue: %d of %d idle nodes", job->wanted, idle))
            break;
        releases[(*count)++] = (struct release){state->now + job->left, job->wanted};
    }
    return i;
}

/* Running jobs end when their limit is over; what an adapting one holds is free then. */
static int list_running(const epop_policy_state_t *state, struct release *releases)
{
    for (int i = 0; i < state->running_count; i++) {
        const epop_policy_job_t *job = state->running[i];
        releases[i] = (struct release){state->now + job->left, job->nodes > job->target ? job->nodes : job->target};
    }
    return state->running_count;
}

/* As many nodes can be busy as the head needs, so they are there when the last job has ended. */
static struct shadow find_shadow(const epop_policy_job_t *head, int idle, struct release *releases, int count)
{
    struct shadow shadow = {head, 0, 0};
    int i = 0;
    qsort(releases, (size_t)count, sizeof *releases, by_time);
    while (i < count && (idle < head->wanted || releases[i].time <= shadow.time)) {
        shadow.time = releases[i].time;
        idle += releases[i++].nodes;
    }
    shadow.extra = idle - head->wanted;
    return shadow;
}

/* Starts it if that does not delay the head. */
static void backfill_behind(epop_plan_t *plan, double now, const epop_policy_job_t *job, struct shadow *shadow)
{
    int idle = epop_plan_idle(plan);
    long long head = (long long)shadow->head->id;
    if (job->wanted > idle)
        return;
    if (now + job->left <= shadow->time) {
        epop_plan_start(plan, job, job->wanted,
                        "backfilled: %d of %d idle nodes, its %.0f s end before job %lld starts at %.0f", job->wanted,
                        idle, job->left, head, shadow->time);
    } else if (job->wanted <= shadow->extra) {
        shadow->extra -= job->wanted;
        epop_plan_start(plan, job, job->wanted,
                        "backfilled: %d of %d idle nodes, and %d more that job %lld does not need", job->wanted, idle,
                        shadow->extra, head);
    }
}

static void reserve_head(epop_plan_t *plan, const struct shadow *shadow)
{
    const epop_policy_job_t *head = shadow->head;
    epop_plan_reserve(plan, head, head->wanted, shadow->time, "first in the queue: %d of its %d nodes are idle",
                      epop_plan_idle(plan), head->wanted);
}

static void easy_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    size_t most = (size_t)state->running_count + (size_t)state->waiting_count + 1;
    struct release *releases = malloc(most * sizeof *releases);
    int count = releases ? list_running(state, releases) : 0;
    int first = releases ? start_in_order(state, plan, releases, &count) : state->waiting_count;
    (void)settings;
    if (first < state->waiting_count) {
        struct shadow shadow = find_shadow(state->waiting[first], epop_plan_idle(plan), releases, count);
        reserve_head(plan, &shadow);
        for (int i = first + 1; i < state->waiting_count && epop_plan_idle(plan) > 0; i++)
            backfill_behind(plan, state->now, state->waiting[i], &shadow);
    }
    free(releases);
}

const epop_policy_t policy_easy = {.abi_version = EPOP_POLICY_ABI_VERSION,
                                   .struct_size = sizeof policy_easy,
                                   .name = "easy",
                                   .summary = "first come first served with EASY backfilling; every job is rigid",
                                   .decide = easy_decide};
