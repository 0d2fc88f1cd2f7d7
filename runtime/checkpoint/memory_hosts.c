/* Ranks and hosts: see memory_hosts.h. */
#include "runtime/checkpoint/memory_hosts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/host.h"
#include "runtime/checkpoint/memory_send.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/control/rundir.h"

/* Two hosts may have directories of the same number, and two names the same directory. */
struct identity {
    char host[HOST_OWN_MAX];
    uint64_t device, inode;
};

static int identify(const char *directory, struct identity *own, struct error *error)
{
    struct stat status;
    memset(own, 0, sizeof *own);
    gethostname(own->host, sizeof own->host - 1);
    if (control_rundir_make(directory, error))
        return -1;
    if (stat(directory, &status))
        return error_set(error, ERROR_FAILED, "%s is gone", directory);
    own->device = status.st_dev;
    own->inode = status.st_ino;
    return 0;
}

static void group(struct memory_hosts *hosts, const struct identity *all)
{
    for (int rank = 0; rank < hosts->ranks; rank++) {
        int first = 0;
        while (memcmp(&all[first], &all[rank], sizeof *all))
            first++;
        hosts->first[rank] = first;
        hosts->place[rank] = hosts->count[first]++;
        hosts->hosts += first == rank;
    }
}

int memory_hosts_find(MPI_Comm comm, const char *directory, struct memory_hosts *hosts, struct error *error)
{
    struct identity own;
    *hosts = (struct memory_hosts){0};
    MPI_Comm_size(comm, &hosts->ranks);
    size_t ranks = (size_t)hosts->ranks;
    struct identity *all = calloc(ranks, sizeof *all);
    hosts->first = calloc(ranks, sizeof(int));
    hosts->place = calloc(ranks, sizeof(int));
    hosts->count = calloc(ranks, sizeof(int));
    int result = identify(directory, &own, error);
    if (!all || !hosts->first || !hosts->place || !hosts->count)
        result = error_memory(error);
    result = outcome_of_all(comm, result, error);
    if (!result) {
        memory_gather(comm, &own, sizeof own, all);
        group(hosts, all);
    } else {
        memory_hosts_free(hosts);
    }
    free(all);
    return result;
}

void memory_hosts_free(struct memory_hosts *hosts)
{
    free(hosts->first);
    free(hosts->place);
    free(hosts->count);
    *hosts = (struct memory_hosts){0};
}

int memory_hosts_member(const struct memory_hosts *hosts, int first, int place)
{
    int rank = first;
    while (hosts->first[rank] != first || hosts->place[rank] != place % hosts->count[first])
        rank++;
    return rank;
}

/* The next one in the order of their first ranks, and from the last one the first. */
static int next_host(const struct memory_hosts *hosts, int first)
{
    int next = first;
    do
        next = (next + 1) % hosts->ranks;
    while (hosts->first[next] != next);
    return next;
}

int memory_hosts_partner(const struct memory_hosts *hosts, int rank)
{
    if (hosts->hosts < 2)
        return -1;
    return memory_hosts_member(hosts, next_host(hosts, hosts->first[rank]), hosts->place[rank]);
}
