/* One result for all ranks: a reduction, and broadcasts of its text. */
#include "runtime/checkpoint/store.h"

#include <limits.h>
#include <string.h>

#include "runtime/redist/wait.h"

#define AT_ONCE (1 << 30) /* bytes of a broadcast: counts are int */

static int mpi_failed(struct error *error)
{
    return error_set(error, ERROR_FAILED, "a function of MPI failed");
}

static int broadcast_bytes(MPI_Comm comm, int root, void *data, int64_t bytes)
{
    MPI_Request request;
    int failed = 0;
    for (int64_t at = 0; !failed && at < bytes; at += AT_ONCE) {
        int now = bytes - at < AT_ONCE ? (int)(bytes - at) : AT_ONCE;
        failed = MPI_Ibcast((char *)data + at, now, MPI_BYTE, root, comm, &request) != MPI_SUCCESS ||
                 redist_wait(&request) != MPI_SUCCESS;
    }
    return failed;
}

int outcome_of_all(MPI_Comm comm, int result, struct error *error)
{
    int rank, mine, first;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    mine = result ? rank : INT_MAX;
    if (MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return mpi_failed(error);
    if (first == INT_MAX)
        return 0;
    return broadcast_bytes(comm, first, error, sizeof *error) ? mpi_failed(error) : -1;
}

int outcome_of_first(MPI_Comm comm, int result, void *data, int64_t bytes, struct error *error)
{
    if (broadcast_bytes(comm, 0, &result, sizeof result))
        return mpi_failed(error);
    if (result)
        return broadcast_bytes(comm, 0, error, sizeof *error) ? mpi_failed(error) : -1;
    return broadcast_bytes(comm, 0, data, bytes) ? mpi_failed(error) : 0;
}
