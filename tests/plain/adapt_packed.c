/*
 * An executable that packs what it describes.
 *     mpiexec -n 3 ./adapt_packed FILE
 * It ends when FILE is there.
 */
#include <epop/mpi_adapt.h>

#include "../programs/packed.h"

int main(int argc, char **argv)
{
    int status, pending = MPI_ADAPT_FALSE;
    struct box box = {.until = argv[argc - 1]};
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Type_contiguous(2, MPI_INT64_T, &box.type);
    MPI_Type_commit(&box.type);
    epop_mpi_pack(pack);
    if (status == MPI_ADAPT_STATUS_NEW)
        fill(&box);
    epop_mpi_describe(describe, &box);
    if (status == MPI_ADAPT_STATUS_JOINING)
        epop_mpi_adapt_described();
    if (status != MPI_ADAPT_STATUS_NEW)
        unpack(&box);
    do {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE) {
            epop_mpi_adapt_described();
            unpack(&box);
        }
        if (pending == MPI_ADAPT_TRUE && status == MPI_ADAPT_STATUS_LEAVING)
            break;
        step(&box);
    } while (goes_on(&box));
    if (status != MPI_ADAPT_STATUS_LEAVING)
        report(&box);
    drop(&box);
    MPI_Type_free(&box.type);
    MPI_Finalize();
    return 0;
}
