/* Slurm's state, put together from what a reader gives: see view.h. */
#include "scheduler/slurm/view.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

static void take_hosts(struct slurm_view *view, struct slurm_job *job, const struct slurm_job_given *given)
{
    struct error error;
    struct hostlist requested = {0};
    if (given->hosts && hostlist_expand(given->hosts, &job->hosts, &error))
        view->failed = true;
    if (given->state == SLURM_JOB_WAITS && given->requested && !hostlist_expand(given->requested, &requested, &error) &&
        requested.count > job->nodes)
        job->nodes = requested.count;
    hostlist_free(&requested);
}

/* Held, dependent, or before its time it is not in the queue. Right after it came there is no reason yet. */
static bool is_in_queue(const struct slurm_job_given *given)
{
    static const char *const reasons[] = {"None", "Resources", "Priority"};
    bool known = false;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        known = known || (given->reason && !strcmp(given->reason, reasons[i]));
    return known && given->state == SLURM_JOB_WAITS && given->priority > 0;
}

static void take_job(void *to, const struct slurm_job_given *given)
{
    struct slurm_view *view = to;
    if (array_reserve(&view->jobs, &view->job_room, view->job_count + 1, sizeof *view->jobs)) {
        view->failed = true;
        return;
    }
    struct slurm_job *job = &view->jobs[view->job_count++];
    *job = (struct slurm_job){.id = given->id,
                              .uid = given->uid,
                              .state = given->state,
                              .nodes = given->nodes,
                              .partition = copy(given->partition),
                              .priority = given->priority,
                              .limit = given->limit,
                              .submitted = given->submitted,
                              .started = given->state == SLURM_JOB_WAITS ? -1 : given->started,
                              .name = copy(given->name),
                              .comment = copy(given->comment),
                              .reason = copy(given->reason),
                              .waits = is_in_queue(given)};
    view->failed = view->failed || !job->partition || !job->name || !job->comment || !job->reason;
    if (job->partition)
        job->partition[strcspn(job->partition, ",")] = '\0';
    take_hosts(view, job, given);
}

int view_node(const struct slurm_view *view, const char *name)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (!strcmp(view->nodes[i].name, name))
            return (int)i;
    return -1;
}

static int add_node(struct slurm_view *view, const struct slurm_node_given *given)
{
    int known = view_node(view, given->name);
    if (known >= 0)
        return known;
    char *name = copy(given->name);
    if (!name || array_reserve(&view->nodes, &view->node_room, view->node_count + 1, sizeof *view->nodes)) {
        free(name);
        return -1;
    }
    view->nodes[view->node_count] = (struct slurm_node){name, given->state, given->planned, given->cpus};
    return (int)view->node_count++;
}

const struct slurm_partition *view_partition(const struct slurm_view *view, const char *name)
{
    for (size_t i = 0; i < view->partition_count; i++)
        if (!strcmp(view->partitions[i].name, name))
            return &view->partitions[i];
    return NULL;
}

static struct slurm_partition *add_partition(struct slurm_view *view, const struct slurm_node_given *given)
{
    struct slurm_partition *known = (struct slurm_partition *)view_partition(view, given->partition);
    if (known)
        return known;
    char *name = copy(given->partition);
    if (!name ||
        array_reserve(&view->partitions, &view->partition_room, view->partition_count + 1, sizeof *view->partitions)) {
        free(name);
        return NULL;
    }
    view->partitions[view->partition_count] = (struct slurm_partition){name, given->tier, given->up, NULL, 0, 0};
    return &view->partitions[view->partition_count++];
}

static void take_node(void *to, const struct slurm_node_given *given)
{
    struct slurm_view *view = to;
    int node = add_node(view, given);
    struct slurm_partition *partition = node >= 0 ? add_partition(view, given) : NULL;
    if (!partition ||
        array_reserve(&partition->nodes, &partition->room, (size_t)partition->count + 1, sizeof *partition->nodes))
        view->failed = true;
    else
        partition->nodes[partition->count++] = node;
}

const struct slurm_sink view_sink = {take_job, take_node};

static int compare(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* By the partition's tier, then by priority, then by number. */
struct ranked {
    struct slurm_job job;
    int tier;
};

static int in_order(const void *one, const void *other)
{
    const struct ranked *a = one, *b = other;
    bool pending = a->job.state == SLURM_JOB_WAITS;
    int order = (b->job.state == SLURM_JOB_WAITS) - pending;
    if (!order && pending)
        order = b->tier - a->tier;
    if (!order && pending)
        order = compare(b->job.priority, a->job.priority);
    return order ? order : compare((double)a->job.id, (double)b->job.id);
}

static int by_number(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct slurm_partition *)one)->name, ((const struct slurm_partition *)other)->name);
}

static int sort_jobs(struct slurm_view *view)
{
    struct ranked *ranked = calloc(view->job_count + 1, sizeof *ranked);
    if (!ranked)
        return -1;
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_partition *partition = view_partition(view, view->jobs[i].partition);
        ranked[i] = (struct ranked){view->jobs[i], partition ? partition->tier : 0};
    }
    qsort(ranked, view->job_count, sizeof *ranked, in_order);
    for (size_t i = 0; i < view->job_count; i++)
        view->jobs[i] = ranked[i].job;
    free(ranked);
    return 0;
}

int view_finish(struct slurm_view *view, struct error *error)
{
    if (view->failed || sort_jobs(view))
        return error_set(error, ERROR_FAILED, "what Slurm said of its jobs and nodes cannot be read");
    for (size_t i = 0; i < view->partition_count; i++)
        qsort(view->partitions[i].nodes, (size_t)view->partitions[i].count, sizeof(int), by_number);
    qsort(view->partitions, view->partition_count, sizeof *view->partitions, by_name);
    return 0;
}

static void free_job(struct slurm_job *job)
{
    hostlist_free(&job->hosts);
    free(job->partition);
    free(job->name);
    free(job->comment);
    free(job->reason);
}

void view_free(struct slurm_view *view)
{
    for (size_t i = 0; i < view->job_count; i++)
        free_job(&view->jobs[i]);
    for (size_t i = 0; i < view->node_count; i++)
        free(view->nodes[i].name);
    for (size_t i = 0; i < view->partition_count; i++) {
        free(view->partitions[i].name);
        free(view->partitions[i].nodes);
    }
    free(view->jobs);
    free(view->nodes);
    free(view->partitions);
    *view = (struct slurm_view){0};
}

const struct slurm_job *view_job(const struct slurm_view *view, int64_t id)
{
    for (size_t i = 0; i < view->job_count; i++)
        if (view->jobs[i].id == id)
            return &view->jobs[i];
    return NULL;
}
