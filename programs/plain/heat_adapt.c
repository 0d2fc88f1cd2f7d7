/*
 * Heat in a rod, as an MPI program with a main() of its own that can be resized while it runs: the four elastic MPI
 * calls, in the shape of listing 7.1 (Compres 2017). One cell's heat spreads; every process has a block of the cells.
 *     mpiexec -n 2 ./heat_adapt [CELLS [STEPS]]        epopctl resize 4
 */
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rod {
    int cells;             /* of all */
    long long step, steps; /* made, and to make */
    int first, count;      /* this process's cells */
    double *heat;          /* count + 2: with a neighbour's cell at each end */
    double *next;
};

/* The cells of a rank, in blocks that differ by one at most. A rank that is none (-1) has none. */
static void block(int cells, int rank, int size, int *first, int *count)
{
    int share = rank < 0 ? 0 : cells / size, rest = rank < 0 ? 0 : cells % size;
    *first = rank < 0 ? 0 : rank * share + (rank < rest ? rank : rest);
    *count = share + (rank < rest ? 1 : 0);
}

static void end_without_memory(void)
{
    fprintf(stderr, "heat_adapt: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void allocate(struct rod *rod, int rank, int size)
{
    block(rod->cells, rank, size, &rod->first, &rod->count);
    rod->heat = calloc((size_t)rod->count + 2, sizeof *rod->heat);
    rod->next = calloc((size_t)rod->count + 2, sizeof *rod->next);
    if (!rod->heat || !rod->next)
        end_without_memory();
}

/* How many cells of [first, first + count) are in the other block, and the first of them. */
static int overlap(int first, int count, int other, int other_count, int *begin)
{
    int last = first + count < other + other_count ? first + count : other + other_count;
    *begin = first > other ? first : other;
    return last > *begin ? last - *begin : 0;
}

/* Moves the cells from their old owners to the new ones, in a communicator of all: old ranks, then joining ones. */
static void move(struct rod *rod, const struct rod *old, MPI_Comm all)
{
    int size, begin, mine[4] = {old->first, old->count, rod->first, rod->count};
    MPI_Comm_size(all, &size);
    int(*blocks)[4] = malloc((size_t)size * sizeof *blocks);
    int *counts = malloc(4 * (size_t)size * sizeof *counts);
    if (!blocks || !counts)
        end_without_memory();
    int *places = counts + size, *from = counts + 2 * size, *into = counts + 3 * size;
    MPI_Allgather(mine, 4, MPI_INT, blocks, 4, MPI_INT, all);
    for (int r = 0; r < size; r++) {
        counts[r] = overlap(old->first, old->count, blocks[r][2], blocks[r][3], &begin);
        places[r] = counts[r] ? begin - old->first : 0;
        from[r] = overlap(rod->first, rod->count, blocks[r][0], blocks[r][1], &begin);
        into[r] = from[r] ? begin - rod->first : 0;
    }
    MPI_Alltoallv(old->heat ? old->heat + 1 : NULL, counts, places, MPI_DOUBLE, rod->heat + 1, from, into, MPI_DOUBLE,
                  all);
    MPI_Bcast(&rod->step, 1, MPI_LONG_LONG, 0, all);
    free(counts);
    free(blocks);
}

/* One adaptation, on staying, leaving and joining processes alike. */
static void adapt(struct rod *rod, int status)
{
    MPI_Comm between, after, all;
    int staying, leaving, joining, rank = -1, size = 1;
    struct rod old = *rod;
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    if (joining)
        MPI_Intercomm_merge(between, status == MPI_ADAPT_STATUS_JOINING, &all);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
    if (after != MPI_COMM_NULL) {
        MPI_Comm_rank(after, &rank);
        MPI_Comm_size(after, &size);
    }
    allocate(rod, rank, size);
    move(rod, &old, all);
    MPI_Comm_disconnect(&all); /* what was made from the old world goes before it does */
    free(old.heat);
    free(old.next);
    MPI_Comm_adapt_commit();
}

static void step(struct rod *rod)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(rod->heat + 1, 1, MPI_DOUBLE, left, 0, rod->heat + rod->count + 1, 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(rod->heat + rod->count, 1, MPI_DOUBLE, right, 0, rod->heat, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= rod->count; i++)
        rod->next[i] = rod->heat[i] + 0.25 * (rod->heat[i - 1] - 2 * rod->heat[i] + rod->heat[i + 1]);
    memcpy(rod->heat + 1, rod->next + 1, (size_t)rod->count * sizeof *rod->heat);
    rod->step++;
}

/* On rank 0: the same digits, however many processes there were. */
static void report(const struct rod *rod)
{
    int rank, size;
    double sums[2] = {0, 0}, totals[2]; /* heat, and where its centre is */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rod->count; i++) {
        sums[0] += rod->heat[i + 1];
        sums[1] += rod->heat[i + 1] * (rod->first + i) * (rod->first + i);
    }
    MPI_Reduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("heat %.6f, spread %.6f after %lld steps, %d processes\n", totals[0], totals[1], rod->step, size);
}

static void start(struct rod *rod)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    allocate(rod, rank, size);
    if (rank == 0)
        rod->heat[1] = 1000;
}

int main(int argc, char **argv)
{
    int status, pending = MPI_ADAPT_FALSE;
    struct rod rod = {.cells = 1000, .steps = 100000};
    MPI_Init_adapt(&argc, &argv, &status);
    if (argc > 1)
        rod.cells = atoi(argv[1]);
    if (argc > 2)
        rod.steps = atoll(argv[2]);
    if (status == MPI_ADAPT_STATUS_JOINING)
        adapt(&rod, status);
    else
        start(&rod);
    while (rod.step < rod.steps) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt(&rod, status);
        if (pending == MPI_ADAPT_TRUE && status == MPI_ADAPT_STATUS_LEAVING)
            break;
        step(&rod);
    }
    if (status != MPI_ADAPT_STATUS_LEAVING)
        report(&rod);
    free(rod.heat);
    free(rod.next);
    MPI_Finalize();
    return 0;
}
