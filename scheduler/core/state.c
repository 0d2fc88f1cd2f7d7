/* The core's state as a whole: see state.h and core.h. */
#include "scheduler/core/state.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/core/left.h"

static double submission(const epop_policy_job_t *job)
{
    return job->submitted;
}

static double start(const epop_policy_job_t *job)
{
    return job->started;
}

struct core *core_create(int nodes, const struct core_costs *costs, double power_cap)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core || nodes_init(&core->nodes, nodes)) {
        free(core);
        return NULL;
    }
    core->running.key = start;
    core->waiting.key = submission;
    core->now = -INFINITY;
    core->view = (epop_policy_state_t){.nodes = core->nodes.items,
                                       .node_count = nodes,
                                       .resize_base = costs->base,
                                       .resize_per_node = costs->per_node,
                                       .resize_per_byte = costs->per_byte,
                                       .power_cap = power_cap};
    return core;
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    plan_free(&core->plan);
    queue_free(&core->running);
    queue_free(&core->waiting);
    jobs_free(&core->jobs);
    nodes_free(&core->nodes);
    free(core->chosen);
    free(core);
}

void core_set_watts(struct core *core, int node, double idle, double busy)
{
    core->nodes.items[node].idle_watts = idle;
    core->nodes.items[node].busy_watts = busy;
}

int state_check_time(const struct core *core, double now, struct error *error)
{
    if (isfinite(now) && now >= core->now)
        return 0;
    return error_set(error, ERROR_FAILED, "time goes from %.6f back to %.6f", core->now, now);
}

struct job *state_find(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = jobs_find(&core->jobs, id);
    if (!job)
        error_set(error, ERROR_FAILED, "job %lld: there is none", (long long)id);
    return job;
}

void state_show(struct core *core, double now)
{
    epop_policy_state_t *view = &core->view;
    view->now = core->now = now;
    view->idle = core->nodes.idle;
    view->down = core->nodes.down;
    view->running = queue_items(&core->running);
    view->running_count = (int)core->running.count;
    view->waiting = queue_items(&core->waiting);
    view->waiting_count = (int)core->waiting.count;
    for (int i = 0; i < view->running_count; i++)
        left_show((struct job *)view->running[i], now);
}

const epop_policy_state_t *core_state(struct core *core, double now)
{
    state_show(core, now > core->now ? now : core->now);
    return &core->view;
}

const epop_policy_job_t *core_job(const struct core *core, int64_t job)
{
    const struct job *found = jobs_find(&core->jobs, job);
    return found ? &found->view : NULL;
}
