/* Malleable jobs: see advised.h. */
#include "scheduler/slurm/advised.h"

#include <stdlib.h>

#include "runtime/base/array.h"

struct advised *advised_find(const struct advised_table *table, int64_t job)
{
    struct advised *found = table->first;
    while (found && found->id != job)
        found = found->next;
    return found;
}

struct advised *advised_get(struct advised_table *table, int64_t job)
{
    struct advised *found = advised_find(table, job);
    if (found)
        return found;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->id = job;
    found->next = table->first;
    table->first = found;
    return found;
}

void ask_over(struct ask *ask)
{
    hostlist_free(&ask->nodes);
    *ask = (struct ask){.kind = ASK_NOTHING};
}

void advised_remove(struct advised_table *table, struct advised *job)
{
    struct advised **link = &table->first;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    if (job->peer)
        peer_close(job->peer);
    ask_over(&job->ask);
    told_free(&job->told);
    free(job);
}

void advised_free(struct advised_table *table)
{
    while (table->first)
        advised_remove(table, table->first);
    free(table->promises);
    *table = (struct advised_table){0};
}

bool advised_is_busy(const struct advised *job)
{
    return job->ask.kind == ASK_GROW || job->ask.kind == ASK_SHRINK || job->ask.kind == ASK_EARLIER;
}

bool advised_is_ready(const struct advised *job)
{
    return job->peer && job->attached && job->told.known && job->told.joins && job->told.ranks > 0;
}

double advised_promise(const struct advised_table *table, int64_t job)
{
    for (size_t i = 0; i < table->promise_count; i++)
        if (table->promises[i].job == job)
            return table->promises[i].start;
    return 0;
}

void advised_promised(struct advised_table *table, int64_t job, double start)
{
    if (advised_promise(table, job) > 0 ||
        array_reserve(&table->promises, &table->promise_room, table->promise_count + 1, sizeof *table->promises))
        return;
    table->promises[table->promise_count++] = (struct promise){.job = job, .start = start};
}
