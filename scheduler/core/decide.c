/* From a state to decisions: the policy is asked, and its plan, if it can be, becomes the state. See core.h. */
#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/core/guard.h"
#include "scheduler/core/left.h"
#include "scheduler/core/state.h"

/* All memory that taking the plan will need. -1: there is none, and nothing has changed. */
static int reserve(struct core *core)
{
    struct epop_plan *plan = &core->plan;
    size_t starts = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct decision *decision = &plan->items[i];
        if (decision->kind != DECISION_RESERVE &&
            job_reserve_nodes(jobs_find(&core->jobs, decision->job), decision->to))
            return -1;
        starts += decision->kind == DECISION_START;
    }
    return array_reserve(&core->chosen, &core->chosen_room, (size_t)plan->changed, sizeof *core->chosen) ||
                   queue_reserve(&core->running, starts)
               ? -1
               : 0;
}

/* Idle nodes become the job's, behind those that it has. */
static void take(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    int count = decision->to - decision->from;
    nodes_choose(&core->nodes, count, chosen);
    nodes_take(&core->nodes, chosen, count, job->view.id);
    for (int i = 0; i < count; i++)
        job->nodes[decision->from + i] = chosen[i];
    decision->count = count;
}

static int ascending(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* Its highest ranks' nodes will be given back. */
static void name_given(struct core *core, const struct job *job, struct decision *decision, int *chosen)
{
    int count = decision->from - decision->to;
    for (int i = 0; i < count; i++)
        chosen[i] = job->nodes[decision->to + i];
    qsort(chosen, (size_t)count, sizeof *chosen, ascending);
    core->view.coming += count;
    decision->count = count;
}

static void start(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    queue_remove(&core->waiting, job);
    take(core, job, decision, chosen);
    job->view.state = EPOP_POLICY_RUNS;
    job->view.started = job->view.resized = core->now;
    job->view.nodes = job->view.target = decision->to;
    left_starts(job, core->now);
    queue_add(&core->running, job);
}

static void resize(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    if (decision->to > decision->from)
        take(core, job, decision, chosen);
    else
        name_given(core, job, decision, chosen);
    job->view.state = EPOP_POLICY_ADAPTS;
    job->view.target = decision->to;
}

static void carry_out(struct core *core)
{
    int *chosen = core->chosen;
    for (size_t i = 0; i < core->plan.count; i++) {
        struct decision *decision = &core->plan.items[i];
        struct job *job = jobs_find(&core->jobs, decision->job);
        if (decision->kind == DECISION_START)
            start(core, job, decision, chosen);
        else if (decision->kind == DECISION_RESIZE)
            resize(core, job, decision, chosen);
        else if (job->view.reserved < 0)
            job->view.reserved = decision->time;
        decision->nodes = decision->count ? chosen : NULL;
        chosen += decision->count;
    }
}

static void ask(struct core *core, const struct policy *policy)
{
    plan_begin(&core->plan, &core->jobs, &core->view);
    guard_enter(policy_called(policy), "deciding at %.3f", core->now);
    policy->table.decide(policy->settings, &core->view, &core->plan);
    guard_leave();
    plan_end(&core->plan);
}

int core_decide(struct core *core, double now, const struct policy *policy, struct decisions *decisions,
                struct error *error)
{
    if (state_check_time(core, now, error))
        return -1;
    state_show(core, now);
    ask(core, policy);
    if (core->plan.wrong)
        return error_set(error, ERROR_REFUSED, "policy %s at %.3f: %s", policy_called(policy), now,
                         core->plan.complaint);
    if (reserve(core))
        return error_memory(error);
    carry_out(core);
    *decisions = (struct decisions){core->plan.items, (int)core->plan.count, core->plan.wake};
    return 0;
}
