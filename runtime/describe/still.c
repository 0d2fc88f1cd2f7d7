/* A window in which nobody comes or goes: what a checkpoint and a restart use redistribution by. */
#include <stdlib.h>

#include "runtime/describe/describe.h"

int describe_still(MPI_Comm comm, epop_window_t *window)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *new_ranks = malloc((size_t)size * sizeof *new_ranks);
    if (!new_ranks)
        return EPOP_ERR_MEMORY;
    for (int i = 0; i < size; i++)
        new_ranks[i] = i;
    *window = (epop_window_t){.status = EPOP_STAYING,
                              .old_rank = rank,
                              .old_size = size,
                              .new_rank = rank,
                              .new_size = size,
                              .staying = size,
                              .before = comm,
                              .after = comm,
                              .all = comm,
                              .intercomm = MPI_COMM_NULL,
                              .new_ranks = new_ranks};
    return EPOP_OK;
}

void describe_still_free(epop_window_t *window)
{
    free((int *)window->new_ranks);
    window->new_ranks = NULL;
}
