/* Jobs that run already, and what is learned of those that run: see core.h. */
#include <math.h>

#include "scheduler/core/left.h"
#include "scheduler/core/state.h"
#include "scheduler/core/submit.h"

static int held(const struct core_place *place)
{
    return place->nodes > place->target ? place->nodes : place->target;
}

/* Each idle, and none twice. */
static int check_list(const struct core *core, int64_t id, const int *list, int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= core->nodes.count || core->nodes.items[list[i]].state != EPOP_NODE_IDLE)
            return error_set(error, ERROR_FAILED, "job %lld: it runs on node %d, which is not idle", (long long)id,
                             list[i]);
        for (int j = 0; j < i; j++)
            if (list[i] == list[j])
                return error_set(error, ERROR_FAILED, "job %lld: it runs on node %d twice", (long long)id, list[i]);
    }
    return 0;
}

static int check(const struct core *core, double now, const struct job *job, const struct core_place *place,
                 struct error *error)
{
    long long id = (long long)job->view.id;
    if (job->view.state != EPOP_POLICY_WAITS)
        return error_set(error, ERROR_FAILED, "job %lld: it runs already", id);
    if (place->nodes < 1 || place->target < 1 || !isfinite(place->started) || place->started > now)
        return error_set(error, ERROR_FAILED, "job %lld: it runs on %d nodes, to be %d, since %g", id, place->nodes,
                         place->target, place->started);
    return check_list(core, job->view.id, place->list, held(place), error);
}

static void run(struct core *core, double now, struct job *job, const struct core_place *place)
{
    epop_policy_job_t *view = &job->view;
    for (int i = 0; i < held(place); i++)
        job->nodes[i] = place->list[i];
    nodes_take(&core->nodes, place->list, held(place), view->id);
    queue_remove(&core->waiting, job);
    view->state = place->nodes == place->target ? EPOP_POLICY_RUNS : EPOP_POLICY_ADAPTS;
    view->started = view->resized = place->started;
    if (place->resized > place->started)
        view->resized = place->resized;
    view->nodes = place->nodes;
    view->target = place->target;
    if (place->target < place->nodes)
        core->view.coming += place->nodes - place->target;
    left_starts(job, place->started);
    left_show(job, now);
    queue_add(&core->running, job);
}

int core_adopt(struct core *core, double now, int64_t id, const struct core_place *place, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : state_find(core, id, error);
    if (!job || check(core, now, job, place, error))
        return -1;
    if (job_reserve_nodes(job, held(place)) || queue_reserve(&core->running, 1))
        return error_memory(error);
    run(core, now, job, place);
    core->now = now;
    return 0;
}

int core_learned(struct core *core, double now, const struct core_job *given, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : state_find(core, given->id, error), *fresh;
    if (!job || submit_check(core, given, error))
        return -1;
    fresh = job_create(given, now);
    if (!fresh)
        return error_memory(error);
    job_learn(job, fresh);
    job_free(fresh);
    core->now = now;
    return 0;
}
