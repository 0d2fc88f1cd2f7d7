/* Bringing joiners of one launch, and of several, together. */
#include "runtime/backends/gathering.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/wire/messages.h"

static int *copy(const struct ints *ints, int *count)
{
    int *values = calloc((size_t)ints->count + 1, sizeof *values);
    *count = values ? ints->count : 0;
    if (*count)
        memcpy(values, ints->items, sizeof *values * (size_t)ints->count);
    return values;
}

int gathering_read(struct gathering *g, const struct order_wake *wake, int process)
{
    *g = (struct gathering){.adaptation = wake->adaptation};
    g->processes = copy(&wake->joiners, &g->count);
    g->sizes = copy(&wake->groups, &g->groups);
    if (!g->processes || !g->sizes)
        return -1;
    while (g->index < g->count && g->processes[g->index] != process)
        g->index++;
    for (int end = g->groups ? g->sizes[0] : 0; g->mine + 1 < g->groups && g->index >= end; end += g->sizes[g->mine])
        g->mine++;
    return 0;
}

void gathering_free(struct gathering *g)
{
    free(g->processes);
    free(g->sizes);
}

MPI_Comm gathering_group(const struct gathering *g, MPI_Comm launch, int first)
{
    int begin = 0, size = g->groups ? g->sizes[g->mine] : g->count;
    int *ranks = malloc(sizeof *ranks * (size_t)(size + 1));
    MPI_Group all, group;
    MPI_Comm comm;
    if (!ranks)
        return MPI_COMM_NULL;
    for (int i = 0; i < g->mine; i++)
        begin += g->sizes[i];
    for (int i = 0; i < size; i++)
        ranks[i] = g->processes[begin + i] - first;
    MPI_Comm_group(launch, &all);
    MPI_Group_incl(all, size, ranks, &group);
    MPI_Comm_create_group(launch, group, g->adaptation & 0x7fff, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    free(ranks);
    return comm;
}

/* One group more. 0, or -1: then nothing can be done with comm any more. */
static int add_group(MPI_Comm *comm, const char *port, bool comes)
{
    MPI_Comm between, both;
    int rank;
    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    int error = comes ? MPI_Comm_connect(port, MPI_INFO_NULL, 0, *comm, &between)
                      : MPI_Comm_accept(port, MPI_INFO_NULL, 0, *comm, &between);
    if (error)
        return -1;
    MPI_Comm_set_errhandler(between, MPI_ERRORS_ARE_FATAL);
    MPI_Intercomm_merge(between, comes, &both);
    MPI_Comm_disconnect(&between);
    MPI_Comm_free(comm);
    *comm = both;
    return 0;
}

MPI_Comm gathering_all(const struct gathering *g, MPI_Comm comm, const struct texts *ports)
{
    for (int next = g->mine ? g->mine : 1; next < g->groups; next++) {
        const char *port = next <= ports->count ? ports->items[next - 1] : NULL;
        if (!port || add_group(&comm, port, next == g->mine))
            return MPI_COMM_NULL;
        if (g->index == 0)
            MPI_Close_port(port);
    }
    return comm;
}
