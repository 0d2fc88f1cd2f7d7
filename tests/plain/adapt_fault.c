/*
 * An executable that says what its data is, and tells when a probe says that a fault was before it.
 *     adapt_fault
 * Counts steps of a millisecond, without end; after a fault, for 20 steps more.
 */
#include <epop/describe.h>
#include <epop/mpi_adapt.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static long step;

static void describe(void *data, epop_description_t *d)
{
    epop_describe_values(d, "step", data, sizeof step);
}

/* How often the job was started again, by this probe; 0: it does not say so. */
static int probe(void)
{
    int pending, status, there, times = 0;
    char text[16];
    MPI_Info info;
    MPI_Probe_adapt(&pending, &status, &info);
    if (info == MPI_INFO_NULL)
        return 0;
    MPI_Info_get(info, MPI_ADAPT_FAULT_KEY, sizeof text - 1, text, &there);
    if (there)
        sscanf(text, "%d", &times);
    MPI_Info_free(&info);
    return times;
}

int main(int argc, char **argv)
{
    int status, rank, times;
    long last = LONG_MAX;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    epop_mpi_describe(describe, &step);
    for (; step < last; step++) {
        times = probe();
        if (times > 0) {
            last = step + 20;
            printf("rank %d: fault %d before step %ld\n", rank, times, step);
        }
        usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
