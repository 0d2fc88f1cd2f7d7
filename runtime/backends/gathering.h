/* The processes that join together: which, and from which launches they come. Those of several launches, parked ones
 * among them, are connected with each other before their INIT, so that old ranks meet one group. */
#ifndef EPOP_GATHERING_H
#define EPOP_GATHERING_H

#include <mpi.h>
#include <stdbool.h>

#include "runtime/wire/messages.h"

struct gathering {
    int adaptation;
    int *processes, count; /* process numbers, in the order of the ranks they will have; 0: all of this launch */
    int *sizes, groups;    /* how many follow each other in `processes` that are of one launch */
    int mine;              /* the group of this process */
    int index;             /* of this process in `processes` */
};

/* By the message that wakes a joiner. 0, or -1: out of memory. gathering_free is due in both cases. */
int gathering_read(struct gathering *g, const struct order_wake *wake, int process);
void gathering_free(struct gathering *g);

/*
 * The communicator of this process's group. launch: all processes of the launch, of which the first one's process
 * number is `first`. Collective over the group.
 */
MPI_Comm gathering_group(const struct gathering *g, MPI_Comm launch, int first);

/*
 * All groups together, in the order given; takes `comm`, of this process's group. ports: where the first group accepts
 * the others, one for each. Collective over all of them. MPI_COMM_NULL when one cannot be connected.
 */
MPI_Comm gathering_all(const struct gathering *g, MPI_Comm comm, const struct texts *ports);

#endif
