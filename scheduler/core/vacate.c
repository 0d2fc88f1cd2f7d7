/* A node is wanted back by the site: see core.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "scheduler/core/state.h"
#include "scheduler/core/text.h"

static bool may_shrink(const epop_policy_job_t *job)
{
    return job->kind >= EPOP_MALLEABLE && (job->phase_count < 1 || job->phases->elastic);
}

/* The size without that node; 0: none is accepted. */
static int smaller(const epop_policy_job_t *job)
{
    int nodes = epop_policy_fit(&job->range, job->nodes - 1);
    while (nodes > 0 && job->phase_count > 0 && !epop_policy_accepts(&job->phases->range, nodes))
        nodes = epop_policy_fit(&job->range, nodes - 1);
    return nodes;
}

static int check(const struct core *core, int node, struct job **job, struct error *error)
{
    const epop_policy_node_t *item = &core->nodes.items[node];
    *job = item->state == EPOP_NODE_BUSY ? jobs_find(&core->jobs, item->job) : NULL;
    if (!*job)
        return error_set(error, ERROR_FAILED, "node %d: no job holds it", node);
    if ((*job)->view.state == EPOP_POLICY_ADAPTS)
        return error_set(error, ERROR_REFUSED, "job %lld: it is on its way to another size",
                         (long long)(*job)->view.id);
    if (!may_shrink(&(*job)->view) || !smaller(&(*job)->view))
        return error_set(error, ERROR_REFUSED, "job %lld: it cannot do without a node now", (long long)(*job)->view.id);
    return 0;
}

/* What is given back is last; the others keep their order. */
static void move_back(struct job *job, int node)
{
    int i = 0, last = job->view.nodes - 1;
    while (job->nodes[i] != node)
        i++;
    memmove(job->nodes + i, job->nodes + i + 1, (size_t)(last - i) * sizeof *job->nodes);
    job->nodes[last] = node;
}

static int ascending(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* What it gives back, as decisions name it. */
static void name_given(struct core *core, const struct job *job, struct decision *decision)
{
    decision->count = decision->from - decision->to;
    memcpy(core->chosen, job->nodes + decision->to, (size_t)decision->count * sizeof *core->chosen);
    qsort(core->chosen, (size_t)decision->count, sizeof *core->chosen, ascending);
    decision->nodes = core->chosen;
}

static void explain(struct decision *decision, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    reason_text(decision->reason, sizeof decision->reason, format, arguments);
    va_end(arguments);
}

int core_vacate(struct core *core, double now, int node, const char *reason, struct decision *decision,
                struct error *error)
{
    struct job *job;
    if (state_check_time(core, now, error) || check(core, node, &job, error))
        return -1;
    if (array_reserve(&core->chosen, &core->chosen_room, (size_t)job->view.nodes, sizeof *core->chosen))
        return error_memory(error);
    move_back(job, node);
    *decision = (struct decision){.kind = DECISION_RESIZE, .job = job->view.id, .from = job->view.nodes};
    decision->to = job->view.target = smaller(&job->view);
    name_given(core, job, decision);
    explain(decision, "%s", reason);
    core->view.coming += decision->count;
    job->view.state = EPOP_POLICY_ADAPTS;
    core->now = now;
    return 0;
}
