/*
 * An executable that accepts some numbers of ranks, by EPOP_SIZES or as argument. Says at its start how many there are,
 * and goes on until it is told to stop.
 */
#include <epop/mpi_adapt.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int pending, status, size, rank;
    if (argc > 1 && epop_mpi_sizes(argv[1]) != MPI_SUCCESS)
        return 3;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status == MPI_ADAPT_STATUS_NEW && rank == 0) {
        printf("begins with %d\n", size);
        fflush(stdout);
    }
    for (;;) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE) {
            MPI_Comm between, world;
            int staying, leaving, joining;
            MPI_Comm_adapt_begin(&between, &world, &staying, &leaving, &joining);
            MPI_Comm_adapt_commit();
        }
        if (status == MPI_ADAPT_STATUS_LEAVING)
            break;
    }
    MPI_Finalize();
    return 0;
}
