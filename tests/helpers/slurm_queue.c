/* slurm_queue libslurm|squeue: what that reader sees of Slurm, a line for each thing; two readers must see the same. */
#include <inttypes.h>
#include <stdio.h>

#include "scheduler/slurm/reading.h"

static void show_job(const struct slurm_job *job)
{
    printf("job %" PRId64 " uid %u state %d nodes %d hosts", job->id, (unsigned)job->uid, (int)job->state, job->nodes);
    for (int i = 0; i < job->hosts.count; i++)
        printf(" %s", job->hosts.names[i]);
    printf(" partition %s priority %u limit %.0f submitted %.0f started %.0f waits %d name %s comment %s\n",
           job->partition, job->priority, job->limit, job->submitted, job->started, job->waits, job->name,
           job->comment);
}

static void show(const struct slurm_view *view)
{
    for (size_t i = 0; i < view->job_count; i++)
        show_job(&view->jobs[i]);
    for (size_t i = 0; i < view->node_count; i++)
        printf("node %s state %d cpus %d\n", view->nodes[i].name, (int)view->nodes[i].state, view->nodes[i].cpus);
    for (size_t i = 0; i < view->partition_count; i++) {
        const struct slurm_partition *partition = &view->partitions[i];
        printf("partition %s tier %d up %d nodes", partition->name, partition->tier, partition->up);
        for (int k = 0; k < partition->count; k++)
            printf(" %s", view->nodes[partition->nodes[k]].name);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct queue_reader reader;
    struct slurm_view view;
    struct error error;
    if (argc != 2 || reading_choose(&reader, argv[1], &error) || reading_once(&reader, true, &view, &error)) {
        fprintf(stderr, "slurm_queue: %s\n", argc == 2 ? error.text : "libslurm or squeue?");
        return 1;
    }
    show(&view);
    view_free(&view);
    return 0;
}
