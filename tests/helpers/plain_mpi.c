/* A plain MPI executable, nothing of EPOP in it. With an argument it says in which file it finds MPI_Comm_rank. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum, kind, found, *limit;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm copy;
    Dl_info info;
    int (*function)(MPI_Comm, int *) = MPI_Comm_rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &kind);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &found);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
    if (rank == 0)
        printf("%d ranks, sum %d, copy %d, name %s, tags to %d\n", size, sum, kind == MPI_CONGRUENT, name, *limit);
    if (rank == 0 && argc > 1 && dladdr(*(void **)&function, &info))
        printf("MPI_Comm_rank is in %s\n", info.dli_fname);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
