/* Nodes given back: see hosts_free.h. */
#include "scheduler/hosts/free.h"

#include "scheduler/hosts/check.h"
#include "scheduler/hosts/jobs.h"

void hosts_free_journal(struct hosts_job *job, const int *nodes, int count)
{
    struct error error = {0};
    for (int i = 0; i < count; i++)
        hosts_must(job->hosts,
                   journal_release(job->hosts->journal, job->hosts->nodes[nodes[i]].name, job->number, &error), &error);
}

void hosts_free_show(struct hosts *hosts, int node)
{
    const struct hosts_node *item = &hosts->nodes[node];
    struct error error = {0};
    if (item->job < 0)
        hosts_must(hosts, core_node(hosts->core, node, item->up && !item->suspect && !item->drained, &error), &error);
    hosts_news(hosts);
}

void hosts_free_done(struct hosts_job *job, const int *nodes, int count)
{
    hosts_jobs_give(job, nodes, count);
    for (int i = 0; i < count; i++)
        hosts_free_show(job->hosts, nodes[i]);
}

void hosts_free_suspect(struct hosts *hosts, const int *nodes, int count)
{
    for (int i = 0; i < count && !hosts->local; i++)
        hosts->nodes[nodes[i]].suspect = true;
    if (count && !hosts->local)
        hosts_check_now(hosts);
}
