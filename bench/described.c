/*
 * A described window beside the same by hand: epop_redist_described with N arrays, and N calls of epop_redist after one
 * epop_redist_replicated for what joining ranks have to know. What description adds is listing, the values and one
 * agreement over all entries.
 *
 *   mpiexec -n 4 described [REPETITIONS]     one line of JSON per case; the window grows from half of the ranks
 */
#include <stdio.h>
#include <stdlib.h>

#include <epop/describe.h>

#include "bench/windows.h"

enum { ARRAYS_MAX = 100 };

struct values {
    int64_t count; /* elements of each array */
    int arrays;
};

struct data {
    struct values values;
    double *blocks[ARRAYS_MAX];
};

static void describe(void *data, epop_description_t *d)
{
    struct data *all = data;
    epop_describe_values(d, "values", &all->values, sizeof all->values);
    for (int i = 0; i < all->values.arrays; i++) {
        char name[32];
        snprintf(name, sizeof name, "array %d", i);
        epop_describe_array(d, name, &all->blocks[i], MPI_DOUBLE, epop_dist_block(all->values.count), 0);
    }
}

static int move_described(const epop_window_t *window, struct data *all)
{
    return epop_redist_described(window, describe, all);
}

static int move_by_hand(const epop_window_t *window, struct data *all)
{
    int result =
        window->joining ? epop_redist_replicated(window, &all->values, (int64_t)sizeof all->values, MPI_BYTE) : EPOP_OK;
    for (int i = 0; i < all->values.arrays && result == EPOP_OK; i++) {
        void *block = all->blocks[i];
        result = epop_redist(window, epop_dist_block(all->values.count), MPI_DOUBLE, &block);
        all->blocks[i] = block;
    }
    return result;
}

static double time_move(int (*move)(const epop_window_t *, struct data *), const epop_window_t *window,
                        struct data *all)
{
    gather();
    double begin = MPI_Wtime();
    if (move(window, all) != EPOP_OK)
        fail("the data cannot be moved");
    return slowest(MPI_Wtime() - begin);
}

static void report(const char *way, int64_t bytes, int arrays, double *described, double *by_hand, int repetitions)
{
    static double ratios[REPETITIONS_MAX];
    for (int i = 0; i < repetitions; i++)
        ratios[i] = described[i] / by_hand[i];
    double ratio = median(ratios, repetitions), ours = median(described, repetitions);
    double theirs = median(by_hand, repetitions);
    if (rank == 0)
        printf("{\"bench\":\"described\",\"case\":\"%s\",\"ranks\":%d,\"arrays\":%d,\"bytes\":%lld,\"seconds\":%.6f,"
               "\"by_hand_seconds\":%.6f,\"ratio\":%.2f,\"fastest_ratio\":%.2f}\n",
               way, size, arrays, (long long)bytes, ours, theirs, ratio, described[0] / by_hand[0]);
    fflush(stdout);
}

static void run_case(int64_t bytes, int arrays, int repetitions)
{
    static double seconds[2][2][REPETITIONS_MAX]; /* expand or shrink; described or by hand */
    static int new_ranks[2][RANKS_MAX];
    int half = (size + 1) / 2;
    const epop_window_t windows[] = {make_window(half, size, new_ranks[0]), make_window(size, half, new_ranks[1])};
    struct data all = {.values = {bytes / arrays / (int64_t)sizeof(double), arrays}};
    int64_t local = epop_dist_local_count(epop_dist_block(all.values.count), windows[0].old_rank, half);
    for (int i = 0; i < arrays && local > 0; i++)
        if (!(all.blocks[i] = calloc((size_t)local, sizeof(double))))
            fail("out of memory");
    for (int i = -1; i < repetitions; i++) /* the first one warms up */
        for (int way = 0; way < 4; way++)
            seconds[way % 2][way / 2][i < 0 ? 0 : i] =
                time_move(way < 2 ? move_described : move_by_hand, &windows[way % 2], &all);
    report("expand", bytes, arrays, seconds[0][0], seconds[0][1], repetitions);
    report("shrink", bytes, arrays, seconds[1][0], seconds[1][1], repetitions);
    for (int i = 0; i < arrays; i++)
        free(all.blocks[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int repetitions = argc > 1 ? atoi(argv[1]) : 31;
    if (size < 2 || size > RANKS_MAX || repetitions < 1 || repetitions > REPETITIONS_MAX)
        fail("usage: mpiexec -n 2..64 described [REPETITIONS]");
    for (int64_t bytes = 64 << 10; bytes <= 64 << 20; bytes <<= 10)
        for (int arrays = 1; arrays <= ARRAYS_MAX; arrays *= 10)
            run_case(bytes, arrays, repetitions);
    MPI_Finalize();
    return 0;
}
