/* What policies call (<epop/policy.h>): the calls that fill a plan, each checked, and those that look at ranges. */
#include "scheduler/core/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/core/text.h"

/* ---- A plan is filled --------------------------------------------------------------------------- */

void plan_begin(struct epop_plan *plan, const struct jobs *jobs, struct nodes *nodes, const epop_policy_state_t *state)
{
    plan->jobs = jobs;
    plan->nodes = nodes;
    plan->state = state;
    plan->count = 0;
    plan->number++;
    plan->idle = state->idle;
    plan->changed = 0;
    plan->wake = INFINITY;
    plan->wrong = false;
    plan->complaint[0] = '\0';
}

void plan_end(struct epop_plan *plan)
{
    plan->state = NULL;
}

void plan_free(struct epop_plan *plan)
{
    free(plan->items);
    plan->items = NULL;
    plan->count = plan->room = 0;
}

int plan_refuse(struct epop_plan *plan, const char *format, ...)
{
    va_list arguments;
    if (plan->wrong)
        return -1;
    plan->wrong = true;
    va_start(arguments, format);
    vsnprintf(plan->complaint, sizeof plan->complaint, format, arguments);
    va_end(arguments);
    return -1;
}

static const char *const verbs[] = {[DECISION_START] = "start",
                                    [DECISION_RESIZE] = "resize",
                                    [DECISION_RESERVE] = "reserve",
                                    [DECISION_BALANCE] = "balance"};

/* The core's own record of the job, whatever the policy gave; NULL, with a complaint. */
static struct job *find_job(struct epop_plan *plan, enum decision_kind kind, const epop_policy_job_t *given)
{
    struct job *job;
    if (!given) {
        plan_refuse(plan, "%s: no job is named", verbs[kind]);
        return NULL;
    }
    job = jobs_find(plan->jobs, given->id);
    if (!job)
        plan_refuse(plan, "%s job %lld: there is no such job", verbs[kind], (long long)given->id);
    else if (job->planned == plan->number)
        plan_refuse(plan, "%s job %lld: the plan has a decision on it already", verbs[kind], (long long)given->id);
    else
        return job;
    return NULL;
}

/* It waits, and would run at that size. */
static int check_waiting(struct epop_plan *plan, const char *verb, const epop_policy_job_t *job, int nodes)
{
    char range[RANGE_TEXT_MAX];
    if (job->state != EPOP_POLICY_WAITS)
        return plan_refuse(plan, "%s job %lld: it runs already, on %d nodes", verb, (long long)job->id, job->nodes);
    if (!epop_policy_accepts(&job->range, nodes))
        return plan_refuse(plan, "%s job %lld at %d nodes: it accepts %s", verb, (long long)job->id, nodes,
                           range_text(&job->range, range));
    return 0;
}

static int check_idle(struct epop_plan *plan, const char *verb, const epop_policy_job_t *job, int nodes, int taken)
{
    if (taken <= plan->idle)
        return 0;
    return plan_refuse(plan, "%s job %lld at %d nodes: that takes %d, and %d are idle", verb, (long long)job->id, nodes,
                       taken, plan->idle);
}

/* The job changes its size, and to that one. */
static int check_running(struct epop_plan *plan, const epop_policy_job_t *job, int nodes)
{
    long long id = (long long)job->id;
    char range[RANGE_TEXT_MAX];
    if (job->state == EPOP_POLICY_WAITS)
        return plan_refuse(plan, "resize job %lld: it waits", id);
    if (job->kind != EPOP_MALLEABLE && job->kind != EPOP_EVOLVING)
        return plan_refuse(plan, "resize job %lld: it is %s", id, kind_text(job->kind));
    if (job->state == EPOP_POLICY_ADAPTS)
        return plan_refuse(plan, "resize job %lld: it is on its way from %d to %d nodes", id, job->nodes, job->target);
    if (!epop_policy_accepts(&job->range, nodes))
        return plan_refuse(plan, "resize job %lld to %d nodes: it accepts %s", id, nodes,
                           range_text(&job->range, range));
    if (nodes == job->nodes)
        return plan_refuse(plan, "resize job %lld to %d nodes: it has that many", id, nodes);
    return 0;
}

/* The element that it is in allows it. */
static int check_phase(struct epop_plan *plan, const epop_policy_job_t *job, int nodes)
{
    char range[RANGE_TEXT_MAX];
    const epop_policy_phase_t *phase = job->phases;
    if (job->phase_count < 1)
        return 0;
    if (!phase->elastic)
        return plan_refuse(plan, "resize job %lld: it is in its rigid phase %s", (long long)job->id, phase->name);
    if (!epop_policy_accepts(&phase->range, nodes))
        return plan_refuse(plan, "resize job %lld to %d nodes: its phase %s accepts %s", (long long)job->id, nodes,
                           phase->name, range_text(&phase->range, range));
    return 0;
}

/* Takes the decision; `taken`: idle nodes that it needs, or, negative, those that it will give back. */
static int take_decision(struct epop_plan *plan, struct decision decision, struct job *job, int taken,
                         const char *reason, va_list arguments)
{
    if (!reason)
        return plan_refuse(plan, "%s job %lld: no reason is given", verbs[decision.kind], (long long)decision.job);
    if (array_reserve(&plan->items, &plan->room, plan->count + 1, sizeof *plan->items))
        return plan_refuse(plan, "out of memory");
    reason_text(decision.reason, sizeof decision.reason, reason, arguments);
    plan->items[plan->count++] = decision;
    plan->changed += taken > 0 ? taken : -taken;
    plan->idle -= taken > 0 ? taken : 0;
    job->planned = plan->number;
    return 0;
}

/* One of the core's own. */
__attribute__((format(printf, 4, 5))) static void take_own(struct epop_plan *plan, struct job *job,
                                                           struct decision decision, const char *reason, ...)
{
    va_list arguments;
    decision.job = job->view.id;
    decision.from = job->view.nodes;
    va_start(arguments, reason);
    take_decision(plan, decision, job, decision.to - decision.from, reason, arguments);
    va_end(arguments);
}

void plan_back(struct epop_plan *plan, struct job *job)
{
    struct decision decision = {.kind = DECISION_RESIZE, .to = job->back, .move = MOVE_BACK};
    take_own(plan, job, decision, "gives back what it has moved away from");
}

void plan_balance(struct epop_plan *plan, struct job *job)
{
    struct decision decision = {.kind = DECISION_BALANCE, .to = job->view.nodes};
    take_own(plan, job, decision, "balances first: imbalance %.2f at %d node%s", job->balance.last, job->view.nodes,
             job->view.nodes == 1 ? "" : "s");
}

int epop_plan_start(epop_plan_t *plan, const epop_policy_job_t *given, int nodes, const char *reason, ...)
{
    struct job *job = plan && plan->state ? find_job(plan, DECISION_START, given) : NULL;
    va_list arguments;
    int result;
    if (!job || check_waiting(plan, "start", &job->view, nodes) || check_idle(plan, "start", &job->view, nodes, nodes))
        return -1;
    va_start(arguments, reason);
    result = take_decision(plan, (struct decision){.kind = DECISION_START, .job = job->view.id, .to = nodes}, job,
                           nodes, reason, arguments);
    va_end(arguments);
    return result;
}

int epop_plan_resize(epop_plan_t *plan, const epop_policy_job_t *given, int nodes, const char *reason, ...)
{
    struct job *job = plan && plan->state ? find_job(plan, DECISION_RESIZE, given) : NULL;
    va_list arguments;
    int result, from = job ? job->view.nodes : 0;
    if (!job || check_running(plan, &job->view, nodes) || check_phase(plan, &job->view, nodes) ||
        check_idle(plan, "resize", &job->view, nodes, nodes - from))
        return -1;
    va_start(arguments, reason);
    result =
        take_decision(plan, (struct decision){.kind = DECISION_RESIZE, .job = job->view.id, .from = from, .to = nodes},
                      job, nodes - from, reason, arguments);
    va_end(arguments);
    return result;
}

/* ---- Moves -------------------------------------------------------------------------------------- */

/* The smallest size of the job and its phase from `least` on, up to `most`; 0: there is none. */
static int size_from(const epop_policy_job_t *job, int least, int most)
{
    int nodes = least;
    while (nodes <= most && !(epop_policy_accepts(&job->range, nodes) &&
                              (job->phase_count < 1 || epop_policy_accepts(&job->phases->range, nodes))))
        nodes++;
    return nodes <= most ? nodes : 0;
}

static bool may_move(const struct epop_plan *plan, const struct job *job)
{
    const epop_policy_job_t *view = &job->view;
    return job->planned != plan->number && view->kind >= EPOP_MALLEABLE && view->state == EPOP_POLICY_RUNS &&
           !job->in_order && (view->phase_count < 1 || view->phases->elastic);
}

/* Times at `leaves`, and at its present ones, relative to the fewest that have so many nodes. */
static double share_saved(const struct epop_plan *plan, const epop_policy_job_t *job, int leaves)
{
    int least = topology_least(plan->nodes->topology, job->nodes);
    double cost = plan->state->spread_cost;
    return 1 - (1 + cost * (leaves - least)) / (1 + cost * (job->leaves - least));
}

int epop_plan_moved(const epop_plan_t *plan, const epop_policy_job_t *given, epop_policy_move_t *move)
{
    const struct job *job = plan && plan->state && given ? jobs_find(plan->jobs, given->id) : NULL;
    int leaves, lacking;
    if (!job || !may_move(plan, job))
        return -1;
    lacking = nodes_gather(plan->nodes, job->nodes, job->view.nodes, 0, NULL, &leaves);
    int nodes = lacking ? size_from(&job->view, job->view.nodes + lacking, job->view.nodes + plan->idle) : 0;
    if (!nodes)
        return -1;
    *move = (epop_policy_move_t){.nodes = nodes, .leaves = leaves, .saves = share_saved(plan, &job->view, leaves)};
    return 0;
}

int epop_plan_move(epop_plan_t *plan, const epop_policy_job_t *given, const char *reason, ...)
{
    struct job *job = plan && plan->state ? find_job(plan, DECISION_RESIZE, given) : NULL;
    epop_policy_move_t move;
    va_list arguments;
    int result, from = job ? job->view.nodes : 0;
    if (!job)
        return -1;
    if (epop_plan_moved(plan, given, &move))
        return plan_refuse(plan, "move job %lld: there is nowhere that it could be moved to", (long long)given->id);
    struct decision decision = {.kind = DECISION_RESIZE, .job = job->view.id, .from = from, .to = move.nodes};
    decision.move = MOVE_THERE;
    va_start(arguments, reason);
    result = take_decision(plan, decision, job, move.nodes - from, reason, arguments);
    va_end(arguments);
    return result;
}

/* ---- Promises, and what is left ----------------------------------------------------------------- */

static int check_promise(struct epop_plan *plan, const epop_policy_job_t *job, int nodes, double time)
{
    if (!isfinite(time) || time < plan->state->now)
        return plan_refuse(plan, "reserve job %lld at time %g: now is %.3f", (long long)job->id, time,
                           plan->state->now);
    if (nodes > plan->state->node_count)
        return plan_refuse(plan, "reserve job %lld at %d nodes: there are %d", (long long)job->id, nodes,
                           plan->state->node_count);
    return 0;
}

int epop_plan_reserve(epop_plan_t *plan, const epop_policy_job_t *given, int nodes, double time, const char *reason,
                      ...)
{
    struct job *job = plan && plan->state ? find_job(plan, DECISION_RESERVE, given) : NULL;
    va_list arguments;
    int result;
    if (!job || check_waiting(plan, "reserve", &job->view, nodes) || check_promise(plan, &job->view, nodes, time))
        return -1;
    va_start(arguments, reason);
    result =
        take_decision(plan, (struct decision){.kind = DECISION_RESERVE, .job = job->view.id, .to = nodes, .time = time},
                      job, 0, reason, arguments);
    va_end(arguments);
    return result;
}

int epop_plan_idle(const epop_plan_t *plan)
{
    return plan && plan->state ? plan->idle : 0;
}

void epop_plan_wake(epop_plan_t *plan, double time)
{
    if (!plan || !plan->state)
        return;
    if (!(time > plan->state->now))
        plan_refuse(plan, "wake at time %g: now is %.3f", time, plan->state->now);
    else if (time < plan->wake)
        plan->wake = time;
}

/* ---- Ranges ------------------------------------------------------------------------------------- */

int epop_policy_accepts(const epop_policy_range_t *range, int nodes)
{
    return nodes > 0 && epop_policy_fit(range, nodes) == nodes;
}

/* How many of the sizes are not larger. */
static int not_larger(const epop_policy_range_t *range, int nodes)
{
    int low = 0, high = range->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (range->sizes[middle] <= nodes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int epop_policy_fit(const epop_policy_range_t *range, int nodes)
{
    if (range->count > 0) {
        int count = not_larger(range, nodes);
        return count > 0 ? range->sizes[count - 1] : 0;
    }
    if (nodes < range->min)
        return 0;
    return nodes < range->max ? nodes : range->max;
}
