/* The conformance suite's program, by the elastic MPI calls. */
#include <epop/mpi_adapt.h>

#include "ring.h"

static void adapt(struct ring *ring, int status)
{
    int staying, leaving, joining;
    MPI_Comm between, world, all;
    MPI_Comm_adapt_begin(&between, &world, &staying, &leaving, &joining);
    if (status != MPI_ADAPT_STATUS_JOINING)
        ring_gather(ring, MPI_COMM_WORLD);
    if (joining) {
        MPI_Intercomm_merge(between, status == MPI_ADAPT_STATUS_JOINING, &all);
        MPI_Bcast(ring, (int)sizeof *ring, MPI_BYTE, 0, all);
        MPI_Comm_free(&all);
    }
    if (world != MPI_COMM_NULL) {
        ring_keep(ring, world);
        ring_changed(world);
    }
    MPI_Comm_adapt_commit();
}

int main(int argc, char **argv)
{
    struct ring ring = {0};
    int status, pending, goes_on = 1;
    ring_file = argc > 1 ? argv[1] : "end";
    MPI_Init_adapt(&argc, &argv, &status);
    if (status == MPI_ADAPT_STATUS_JOINING) {
        ring_joins();
        adapt(&ring, status);
    } else {
        ring_begin(&ring, MPI_COMM_WORLD);
    }
    while (goes_on) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt(&ring, status);
        if (pending == MPI_ADAPT_TRUE && status == MPI_ADAPT_STATUS_LEAVING)
            break;
        goes_on = ring_step(&ring, MPI_COMM_WORLD);
    }
    if (!goes_on)
        ring_end(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
