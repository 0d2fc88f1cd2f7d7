/* What the site tells of jobs and nodes: see core.h. */
#include <math.h>
#include <string.h>

#include "scheduler/core/left.h"
#include "scheduler/core/state.h"

static struct job *find_running(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = state_find(core, id, error);
    if (!job || job->view.state != EPOP_POLICY_WAITS)
        return job;
    error_set(error, ERROR_FAILED, "job %lld: it does not run", (long long)id);
    return NULL;
}

static struct job *find_adapting(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = state_find(core, id, error);
    if (!job || job->view.state == EPOP_POLICY_ADAPTS)
        return job;
    error_set(error, ERROR_FAILED, "job %lld: no resize of it is under way", (long long)id);
    return NULL;
}

/* Its highest ranks' nodes become idle. */
static void keep(struct core *core, struct job *job, int count)
{
    nodes_give(&core->nodes, job->nodes + count, job_held(job) - count);
}

/* What it was to give back is no longer on its way. */
static void forget_shrink(struct core *core, const struct job *job)
{
    if (job->view.target < job->view.nodes)
        core->view.coming -= job->view.nodes - job->view.target;
}

static void leave(struct core *core, struct job *job)
{
    bool waits = job->view.state == EPOP_POLICY_WAITS;
    if (!waits) {
        forget_shrink(core, job);
        keep(core, job, 0);
    }
    queue_remove(waits ? &core->waiting : &core->running, job);
}

int core_ended(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : state_find(core, id, error);
    if (!job)
        return -1;
    leave(core, job);
    jobs_remove(&core->jobs, job);
    core->now = now;
    return 0;
}

int core_requeued(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (queue_reserve(&core->waiting, 1))
        return error_memory(error);
    leave(core, job);
    job_waits(job);
    queue_add(&core->waiting, job);
    core->now = now;
    return 0;
}

static void settle(struct job *job, int nodes)
{
    job->view.nodes = job->view.target = nodes;
    job->view.state = EPOP_POLICY_RUNS;
}

static void count_resize(struct job *job, double latency, double stall)
{
    int resizes = ++job->view.resizes;
    job->stalled += stall;
    job->late += latency;
    job->view.resize_cost = job->stalled / resizes;
    job->view.resize_latency = job->late / resizes;
}

int core_committed(struct core *core, double now, int64_t id, double latency, double stall, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_adapting(core, id, error);
    if (!job)
        return -1;
    if (!(isfinite(latency) && isfinite(stall) && latency >= 0 && stall >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a resize of %g s that stalled it for %g s", (long long)id,
                         latency, stall);
    left_resized(job, now, stall, job->view.nodes, job->view.target);
    forget_shrink(core, job);
    keep(core, job, job->view.target);
    settle(job, job->view.target);
    job->view.resized = now;
    count_resize(job, latency, stall);
    core->now = now;
    return 0;
}

int core_refused(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_adapting(core, id, error);
    if (!job)
        return -1;
    forget_shrink(core, job);
    keep(core, job, job->view.nodes);
    settle(job, job->view.nodes);
    core->now = now;
    return 0;
}

/* Its nodes are these, and no others of those that it held. */
static bool are_its(const struct job *job, const int *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        int at = 0;
        for (int j = 0; j < i; j++)
            if (nodes[i] == nodes[j])
                return false;
        while (at < job_held(job) && job->nodes[at] != nodes[i])
            at++;
        if (at == job_held(job))
            return false;
    }
    return count > 0;
}

int core_came_out(struct core *core, double now, int64_t id, const int *nodes, int count, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_adapting(core, id, error);
    if (!job)
        return -1;
    if (!are_its(job, nodes, count))
        return error_set(error, ERROR_FAILED, "job %lld: it is on %d nodes, which it did not hold", (long long)id,
                         count);
    forget_shrink(core, job);
    nodes_give(&core->nodes, job->nodes, job_held(job));
    nodes_take(&core->nodes, nodes, count, id);
    memmove(job->nodes, nodes, (size_t)count * sizeof *nodes);
    if (count != job->view.nodes) {
        left_resized(job, now, 0, job->view.nodes, count);
        job->view.resized = now;
    }
    settle(job, count);
    core->now = now;
    return 0;
}

int core_told(struct core *core, double now, int64_t id, double left, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (!(isfinite(left) && left >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: %g s left", (long long)id, left);
    left_told(job, now, left);
    core->now = now;
    return 0;
}

int core_phase(struct core *core, double now, int64_t id, int phase, const double *begins, struct error *error)
{
    struct job *job = state_check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (phase < 0 || (job->phase_count > 0 && phase >= job->phase_count))
        return error_set(error, ERROR_FAILED, "job %lld: phase %d of %d", (long long)id, phase, job->phase_count);
    for (int i = 0; begins && i < job->phase_count - phase; i++) {
        if (!isfinite(begins[i]))
            return error_set(error, ERROR_FAILED, "job %lld: phase %d begins in %g s", (long long)id, phase + i,
                             begins[i]);
    }
    left_phase(job, now, phase, begins);
    core->now = now;
    return 0;
}

static epop_policy_sample_t *find_sample(struct job *job, const epop_policy_sample_t *like)
{
    for (int i = 0; i < job->view.sample_count; i++) {
        if (job->samples[i].phase == like->phase && job->samples[i].nodes == like->nodes)
            return &job->samples[i];
    }
    return NULL;
}

int core_measured(struct core *core, int64_t id, const epop_policy_sample_t *sample, struct error *error)
{
    struct job *job = state_find(core, id, error);
    epop_policy_sample_t *old = job ? find_sample(job, sample) : NULL;
    if (!job)
        return -1;
    if (sample->phase < 0 || sample->nodes < 1 || !isfinite(sample->seconds) || !isfinite(sample->mtct))
        return error_set(error, ERROR_FAILED, "job %lld: a sample of phase %d at %d nodes: %g s, MTCT %g",
                         (long long)id, sample->phase, sample->nodes, sample->seconds, sample->mtct);
    if (!old && job_reserve_sample(job))
        return error_memory(error);
    *(old ? old : &job->samples[job->view.sample_count++]) = *sample;
    return 0;
}

int core_asked(struct core *core, int64_t id, int nodes, struct error *error)
{
    struct job *job = find_running(core, id, error);
    if (!job)
        return -1;
    if (job->view.kind != EPOP_EVOLVING)
        return error_set(error, ERROR_FAILED, "job %lld: it asks for %d nodes, but is not evolving", (long long)id,
                         nodes);
    if (nodes && !epop_policy_accepts(&job->view.range, nodes))
        return error_set(error, ERROR_FAILED, "job %lld: it asks for %d nodes, but does not accept that", (long long)id,
                         nodes);
    job->view.asked = nodes;
    return 0;
}

int core_node(struct core *core, int node, bool up, struct error *error)
{
    if (node < 0 || node >= core->nodes.count)
        return error_set(error, ERROR_FAILED, "node %d: there are %d, from 0", node, core->nodes.count);
    if (core->nodes.items[node].state == EPOP_NODE_BUSY)
        return error_set(error, ERROR_FAILED, "node %d %s: job %lld holds it", node, up ? "comes up" : "goes down",
                         (long long)core->nodes.items[node].job);
    nodes_set_up(&core->nodes, node, up);
    return 0;
}
