/*
 * Heat in a rod, as an MPI program with a main() of its own that can be resized while it runs: the four elastic MPI
 * calls, in the shape of listing 7.1 (Compres 2017). One cell's heat spreads; every process has a block of the cells.
 *     mpiexec -n 2 ./heat_adapt [CELLS [STEPS]]        epopctl resize 4        epopctl checkpoint
 *     EPOP_RESTART=. mpiexec -n 3 ./heat_adapt [CELLS [STEPS]]
 */
#include <epop/describe.h>
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>

struct rod {
    epop_dist_t cells;     /* of all, and who has which */
    long long step, steps; /* made, and to make */
    double *heat;          /* this process's cells */
};

static void describe(void *data, epop_description_t *d)
{
    struct rod *rod = data;
    epop_describe_values(d, "step", &rod->step, sizeof rod->step);
    epop_describe_array(d, "heat", &rod->heat, MPI_DOUBLE, rod->cells, 0);
}

static int64_t cells_of(const struct rod *rod, int *rank, int *size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return epop_dist_local_count(rod->cells, *rank, *size);
}

static void step(struct rod *rod)
{
    int rank, size;
    int64_t count = cells_of(rod, &rank, &size);
    double *heat = rod->heat, west = 0, east = 0;
    double first = count ? heat[0] : 0, last = count ? heat[count - 1] : 0;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&first, 1, MPI_DOUBLE, left, 0, &east, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&last, 1, MPI_DOUBLE, right, 0, &west, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int64_t i = 0; i < count; i++) {
        double here = heat[i];
        heat[i] += 0.25 * (west - 2 * here + (i + 1 < count ? heat[i + 1] : east));
        west = here;
    }
    rod->step++;
}

/* On rank 0: the same digits, however many processes there were. */
static void report(const struct rod *rod)
{
    int rank, size;
    int64_t count = cells_of(rod, &rank, &size);
    double sums[2] = {0, 0}, totals[2]; /* heat, and where its centre is */
    for (int64_t i = 0; i < count; i++) {
        double place = (double)epop_dist_global(rod->cells, rank, size, i);
        sums[0] += rod->heat[i];
        sums[1] += rod->heat[i] * place * place;
    }
    MPI_Reduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("heat %.6f, spread %.6f after %lld steps, %d processes\n", totals[0], totals[1], rod->step, size);
}

static void start(struct rod *rod)
{
    int rank, size;
    int64_t count = cells_of(rod, &rank, &size);
    rod->heat = count ? calloc((size_t)count, sizeof *rod->heat) : NULL;
    if (count && !rod->heat) {
        fprintf(stderr, "heat_adapt: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else if (count && rank == 0) {
        rod->heat[0] = 1000;
    }
}

int main(int argc, char **argv)
{
    int status, pending = MPI_ADAPT_FALSE;
    struct rod rod = {.steps = 100000};
    MPI_Init_adapt(&argc, &argv, &status);
    rod.cells = epop_dist_block(argc > 1 ? atoi(argv[1]) : 1000);
    if (argc > 2)
        rod.steps = atoll(argv[2]);
    if (status == MPI_ADAPT_STATUS_NEW)
        start(&rod);
    epop_mpi_describe(describe, &rod); /* restarting: the data comes here */
    if (status == MPI_ADAPT_STATUS_JOINING)
        epop_mpi_adapt_described(); /* and joining here */
    while (rod.step < rod.steps) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            epop_mpi_adapt_described();
        if (pending == MPI_ADAPT_TRUE && status == MPI_ADAPT_STATUS_LEAVING)
            break;
        step(&rod);
        epop_mpi_progress(rod.step, rod.steps);
    }
    if (status != MPI_ADAPT_STATUS_LEAVING)
        report(&rod);
    free(rod.heat);
    MPI_Finalize();
    return 0;
}
