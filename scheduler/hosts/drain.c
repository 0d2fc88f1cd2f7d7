/* Drained nodes are emptied. */
#include "scheduler/hosts/drain.h"

#include <stdio.h>

#include "scheduler/hosts/resize.h"

/* Rank 0's node stays: its process hosts the job's control. The first of those that can be left; -1: none. */
static int drained_node(const struct hosts_job *job)
{
    for (int i = 1; i < job->held; i++)
        if (job->hosts->nodes[job->nodes[i]].drained)
            return job->nodes[i];
    return -1;
}

static void begin(struct hosts_job *job, const struct decision *decision)
{
    snprintf(job->reason, sizeof job->reason, "%s", decision->reason);
    hosts_resize_begin(job, decision);
}

static bool grow(struct hosts_job *job, int least, const char *why)
{
    struct error error;
    struct decision decision;
    if (core_grow(job->hosts->core, hosts_now(job->hosts), job->number, least, why, &decision, &error))
        return false;
    begin(job, &decision);
    return true;
}

static void leave(struct hosts_job *job, int node)
{
    struct error error;
    struct decision decision;
    char why[HOSTS_REASON_MAX];
    if (!job->moves_at)
        job->moves_at = job->size;
    snprintf(why, sizeof why, "node %s is drained: an idle one first", job->hosts->nodes[node].name);
    if (job->size <= job->moves_at && grow(job, job->size + 1, why))
        return;
    snprintf(why, sizeof why, "node %s is drained", job->hosts->nodes[node].name);
    if (!core_vacate(job->hosts->core, hosts_now(job->hosts), node, why, &decision, &error))
        begin(job, &decision);
}

static void look_at(struct hosts_job *job)
{
    int node = drained_node(job);
    if (node >= 0)
        leave(job, node);
    else if (job->moves_at > job->size)
        grow(job, job->moves_at, "as many nodes as before one was drained");
    else
        hosts_drain_forget(job);
}

void hosts_drain(struct hosts *hosts)
{
    for (struct hosts_job *job = hosts->jobs; job; job = job->next)
        if (job->state == JOB_RUNNING && !job->pool)
            look_at(job);
}

void hosts_drain_forget(struct hosts_job *job)
{
    struct error error = {0};
    if (!job->moves_at)
        return;
    job->moves_at = 0;
    hosts_must(job->hosts, journal_move_set(job->hosts->journal, job->number, &(struct journal_move){0}, &error),
               &error);
}
