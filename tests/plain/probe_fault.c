/*
 * An executable with the published probe that tells of faults, and a prototype of its own for it. After a fault it
 * prints what its first three probes answer, and ends; before, it works without end.
 *     probe_fault
 */
#define EPOP_MPI_ADAPT_FAULT
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info, int *nfailed, int *failed_ranks);

static int probes_left = -1; /* after a fault; -1: there was none */

static void tell(int pending, int status, int nfailed, const int *failed_ranks)
{
    int rank;
    char list[100] = "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < nfailed; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), " %d", failed_ranks[i]);
    printf("rank %d: pending %d, status %d, %d failed:%s\n", rank, pending, status, nfailed, list);
}

static void probe(int size)
{
    int pending, status, nfailed, failed_ranks[size];
    MPI_Info info;
    MPI_Probe_adapt(&pending, &status, &info, &nfailed, failed_ranks);
    if (pending == MPI_ADAPT_FAULT)
        probes_left = 3;
    if (probes_left > 0) {
        tell(pending, status, nfailed, failed_ranks);
        probes_left--;
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int status, size;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (probes_left) {
        probe(size);
        usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
