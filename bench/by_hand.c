/*
 * What a window takes without EPOP: its communicators, and the bytes of an array in blocks, by MPI alone. All ranks of
 * both sizes are there before, as in the pool.
 *     by_hand OLD NEW BYTES ROUNDS
 * Prints medians in milliseconds, from the first rank that begins to the last one that is through: of
 * MPI_Comm_create_group of all and of the new ranks, with MPI_Intercomm_create where some join; and of MPI_Alltoallv
 * into memory that nobody has touched.
 */
#include <string.h>

#include <mpi.h>

#include "bench/windows.h"
#include "runtime/base/clock.h"

static int64_t total;

static MPI_Comm first_ranks(int count, int tag)
{
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[][3]){{0, count - 1, 1}}, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

/* The communicators of a window, made and freed again. */
static void communicators(const epop_window_t *window, MPI_Comm before)
{
    MPI_Comm all = first_ranks(size, 1), after = MPI_COMM_NULL, intercomm = MPI_COMM_NULL;
    if (window->new_rank >= 0)
        after = first_ranks(window->new_size, 2);
    if (window->joining)
        MPI_Intercomm_create(before, 0, all, window->old_rank < 0 ? 0 : window->old_size, 3, &intercomm);
    if (intercomm != MPI_COMM_NULL)
        MPI_Comm_free(&intercomm);
    if (after != MPI_COMM_NULL)
        MPI_Comm_free(&after);
    MPI_Comm_free(&all);
}

static int64_t first_of(int r, int count)
{
    return r < count ? total * r / count : total;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What of the part of a rank of `count` is in that of another rank of `others`, and where in the former. */
static void share(int own, int count, int other, int others, int *bytes, int *at)
{
    int64_t first = first_of(own, count), begin = first_of(other, others);
    int64_t end = smaller(first_of(own + 1, count), first_of(other + 1, others));
    begin = begin > first ? begin : first;
    *bytes = end > begin ? (int)(end - begin) : 0;
    *at = *bytes ? (int)(begin - first) : 0;
}

static void exchange(const epop_window_t *window, const char *old)
{
    int sent[RANKS_MAX], from[RANKS_MAX], received[RANKS_MAX], to[RANKS_MAX];
    for (int r = 0; r < size; r++) {
        share(rank, window->old_size, r, window->new_size, &sent[r], &from[r]);
        share(rank, window->new_size, r, window->old_size, &received[r], &to[r]);
    }
    char *new = allocate(first_of(rank + 1, window->new_size) - first_of(rank, window->new_size));
    MPI_Alltoallv(old, sent, from, MPI_BYTE, new, received, to, MPI_BYTE, MPI_COMM_WORLD);
    free(new);
}

/* From the first rank that begins to the last one that is through, by a clock that all processes of this machine share.
 */
static double spanned(double begin, double end)
{
    double mine[2] = {-begin, end}, most[2];
    gather();
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    gather();
    return most[1] + most[0];
}

int main(int argc, char **argv)
{
    static double making[REPETITIONS_MAX], moving[REPETITIONS_MAX];
    int new_ranks[RANKS_MAX], rounds = argc > 4 ? atoi(argv[4]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rounds < 1 || rounds > REPETITIONS_MAX)
        fail("by_hand OLD NEW BYTES ROUNDS");
    epop_window_t window = make_window(atoi(argv[1]), atoi(argv[2]), new_ranks);
    total = atoll(argv[3]);
    MPI_Comm before;
    MPI_Comm_split(MPI_COMM_WORLD, window.old_rank >= 0, rank, &before);
    int64_t own = first_of(rank + 1, window.old_size) - first_of(rank, window.old_size);
    char *old = allocate(own);
    memset(old, 1, (size_t)own);
    for (int i = 0; i < rounds; i++) {
        gather();
        double begin = monotonic_seconds();
        communicators(&window, before);
        making[i] = spanned(begin, monotonic_seconds());
        begin = monotonic_seconds();
        exchange(&window, old);
        moving[i] = spanned(begin, monotonic_seconds());
    }
    if (rank == 0)
        printf("{\"communicators_ms\":%.4f,\"alltoallv_ms\":%.4f}\n", median(making, rounds) * 1e3,
               median(moving, rounds) * 1e3);
    MPI_Finalize();
    return 0;
}
