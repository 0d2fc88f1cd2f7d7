/* How many threads each rank of a host may have. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/host.h"
#include "runtime/world/world.h"

struct place {
    char host[HOST_OWN_MAX];
    cpu_set_t cores; /* on which the rank may run: its launcher may have bound it to some */
};

static struct place own_place(void)
{
    struct place place = {0};
    snprintf(place.host, sizeof place.host, "%s", host_own());
    sched_getaffinity(0, sizeof place.cores, &place.cores);
    return place;
}

/* By name: MPI_Comm_split_type knows no hosts where MPI does not use their memory, as with ch3:sock. And one after the
 * other, which takes no memory that one of them might not get. */
int epop_threads(void)
{
    INTERPOSE_CALL(epop_threads);
    MPI_Comm comm = epop_world();
    struct place mine = own_place();
    cpu_set_t cores;
    int size, ranks = 0;
    CPU_ZERO(&cores);
    if (comm == MPI_COMM_NULL)
        return 1;
    MPI_Comm_size(comm, &size);
    for (int from = 0; from < size; from++) {
        struct place place = mine;
        MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, from, comm);
        if (strcmp(place.host, mine.host))
            continue;
        CPU_OR(&cores, &cores, &place.cores);
        ranks++;
    }
    return CPU_COUNT(&cores) > ranks ? CPU_COUNT(&cores) / ranks : 1;
}
