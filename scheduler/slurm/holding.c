/* A job's nodes: see holding.h. */
#include "scheduler/slurm/holding.h"

#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/slurm/words.h"

bool holding_is_companion(const struct slurm_view *view, const struct slurm_job *job)
{
    const struct slurm_job *main = view_job(view, words_companion(job->name));
    return main && main != job && main->uid == job->uid && main->state != SLURM_JOB_WAITS;
}

static bool has(const struct holding *holding, int node)
{
    for (int i = 0; i < holding->count; i++)
        if (holding->nodes[i] == node)
            return true;
    return false;
}

static int add(struct holding *holding, int node)
{
    if (node < 0 || has(holding, node))
        return 0;
    if (array_reserve(&holding->nodes, &holding->room, (size_t)holding->count + 1, sizeof *holding->nodes))
        return -1;
    holding->nodes[holding->count++] = node;
    return 0;
}

static int add_all(struct holding *holding, const struct slurm_view *view, const struct hostlist *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        if (add(holding, view_node(view, hosts->names[i])))
            return -1;
    return 0;
}

/* One that has no ranks comes or goes by itself: its node is nobody's. */
static bool counts(const struct holding *holding, const struct slurm_job *companion)
{
    const struct advised *advised = holding->advised;
    if (!advised || !advised_is_ready(advised) || advised_is_busy(advised))
        return true;
    for (int i = 0; i < companion->hosts.count; i++)
        if (told_runs_on(&advised->told, companion->hosts.names[i]))
            return true;
    return false;
}

static int add_companions(struct holding *holding, const struct slurm_view *view)
{
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_job *job = &view->jobs[i];
        if (words_companion(job->name) != holding->job->id || job->uid != holding->job->uid)
            continue;
        holding->queued += job->state == SLURM_JOB_WAITS;
        if (job->state == SLURM_JOB_RUNS && counts(holding, job) && add_all(holding, view, &job->hosts))
            return -1;
    }
    return 0;
}

/* Idle still to Slurm, or the companions' already: then they are in the list, and count as had. */
static int add_wanted(struct holding *holding, const struct slurm_view *view)
{
    const struct hostlist *nodes = &holding->advised->ask.nodes;
    int before = holding->count;
    for (int i = 0; holding->advised->ask.kind == ASK_GROW && i < nodes->count; i++) {
        int node = view_node(view, nodes->names[i]);
        if (node >= 0 && view->nodes[node].state == SLURM_NODE_IDLE && add(holding, node))
            return -1;
    }
    holding->wanted = holding->count - before;
    return 0;
}

int holding_of(struct holding *holding, const struct slurm_view *view, const struct slurm_job *job,
               const struct advised_table *table)
{
    *holding = (struct holding){.job = job};
    int failed = add_all(holding, view, &job->hosts);
    holding->own = holding->count;
    if (!failed && job->state == SLURM_JOB_RUNS && words_range(job->comment, &holding->min, &holding->max)) {
        holding->advised = advised_find(table, job->id);
        failed = add_companions(holding, view) || (holding->advised && add_wanted(holding, view));
    }
    if (failed)
        holding_free(holding);
    return failed ? -1 : 0;
}

void holding_free(struct holding *holding)
{
    free(holding->nodes);
    *holding = (struct holding){0};
}
