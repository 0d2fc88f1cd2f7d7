/* Nodes that fail: see faults.h. */
#include "scheduler/simulated/faults.h"

#include <inttypes.h>
#include <math.h>

#include "scheduler/simulated/resizing.h"
#include "scheduler/simulated/running.h"

static int expect(struct run *run, const struct script *script, size_t index, struct error *error)
{
    struct event event = {.time = fmax(script->nodes[index].time, run->now), .kind = EVENT_NODE, .index = index};
    int node = script->nodes[index].node;
    if (node < 0 || node >= run->workload->nodes)
        return error_set(error, ERROR_REFUSED, "the script: there is no node %d, the machine has 0 to %d", node,
                         run->workload->nodes - 1);
    return events_add(&run->events, &event) ? error_memory(error) : 0;
}

int faults_begin(struct run *run, struct error *error)
{
    const struct script *script = run->simulation->script;
    for (size_t i = 0; script && i < script->node_count; i++)
        if (expect(run, script, i, error))
            return -1;
    for (size_t i = 0; script && i < script->resize_count; i++)
        if (!run_find(run, script->resizes[i].job))
            return error_set(error, ERROR_REFUSED, "the script: there is no job %" PRId64, script->resizes[i].job);
    return 0;
}

static int lose(struct run *run, int node, struct error *error)
{
    int64_t holder = run->ledger.holders[node];
    struct play *play = holder < 0 ? NULL : run_find(run, holder);
    if (!play)
        return 0;
    if (resizing_awaits(play, node))
        return resizing_refuse(run, play, "a node of them fails", error);
    return running_requeue(run, play, error);
}

int faults_event(struct run *run, size_t index, struct error *error)
{
    const struct node_fault *fault = &run->simulation->script->nodes[index];
    bool was_up = run->ledger.holders[fault->node] != LEDGER_DOWN;
    if (run_note(run, error, "node %d %s", fault->node, fault->up ? "returns" : "fails"))
        return -1;
    if (was_up == fault->up)
        return 0;
    if (!fault->up && lose(run, fault->node, error))
        return -1;
    if (fault->up)
        ledger_return(&run->ledger, fault->node);
    else
        ledger_fail(&run->ledger, fault->node);
    run->news = true;
    return core_node(run->core, fault->node, fault->up, error);
}
