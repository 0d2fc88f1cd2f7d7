/* One answer from all ranks, and one line for the user: the lowest rank with an error speaks for all. */
#include "common/agree.h"

#include <stdio.h>

int agree_on_error(MPI_Comm comm, int error, const char *program, const char *text)
{
    int rank, size, speaker;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int candidate = error ? rank : size;
    MPI_Allreduce(&candidate, &speaker, 1, MPI_INT, MPI_MIN, comm);
    if (speaker == size)
        return 0;
    if (rank == speaker) {
        fprintf(stderr, "%s: %s\n", program, text);
        fflush(stderr);
    }
    MPI_Bcast(&error, 1, MPI_INT, speaker, comm);
    return error;
}
