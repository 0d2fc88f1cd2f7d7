/* Which ranks are on one host, and who keeps a copy of whose part. */
#ifndef EPOP_CHECKPOINT_MEMORY_HOSTS_H
#define EPOP_CHECKPOINT_MEMORY_HOSTS_H

#include <mpi.h>

#include "runtime/base/error.h"

struct memory_hosts {
    int ranks;
    int *first; /* of each rank: the first rank of its host */
    int *place; /* and how many of that host are before it */
    int *count; /* of a first rank: how many are on its host */
    int hosts;
};

/* Ranks that see the same directory are on one host: it is made where it is missing. Collective; 0, or -1 with text on
 * all ranks. */
int memory_hosts_find(MPI_Comm comm, const char *directory, struct memory_hosts *hosts, struct error *error);
void memory_hosts_free(struct memory_hosts *hosts);

/* Who keeps the copy of that rank's part: one on the next host; -1: there is no other host. Local. */
int memory_hosts_partner(const struct memory_hosts *hosts, int rank);
/* The rank at that place (modulo how many there are) of the host whose first rank that is. Local. */
int memory_hosts_member(const struct memory_hosts *hosts, int first, int place);

#endif
