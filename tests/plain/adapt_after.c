/*
 * FIRST SECOND: computes until rank 0 finds the first file, is through with MPI then, and lives on until it finds the
 * second one.
 */
#include <epop/mpi_adapt.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status, pending, rank, over = 0;
    MPI_Init_adapt(&argc, &argv, &status);
    if (argc != 3)
        return EXIT_FAILURE;
    while (!over) {
        MPI_Probe_adapt(&pending, &status, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        over = !rank && !access(argv[1], F_OK);
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(1000);
    }
    MPI_Finalize();
    while (access(argv[2], F_OK))
        usleep(1000);
    return EXIT_SUCCESS;
}
