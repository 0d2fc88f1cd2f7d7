/*
 * Blocks with ghosts beside what one would do by hand. A redistribution beside MPI_Alltoallv of the same bytes, whose
 * buffers are packed already, once more over itself, and MPI_Alltoallw with subarrays, which packs by itself; all
 * between arrays that are there. How long packing takes by itself. And the exchange of ghosts beside one by hand:
 * subarrays, one pair of messages per direction, made once.
 *
 *   mpiexec -n 4 blocks [SIDE [REPETITIONS]]     one line of JSON per case
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epop/blocks.h>

#include "bench/windows.h"

enum { D = EPOP_BLOCKS_DIMS, DIRECTIONS = 27, PIECE = 512 << 10 };

/* ---- Redistribution ----------------------------------------------------------- */

/* A part of a local array. */
typedef struct part {
    int sizes[D], lengths[D], starts[D];
} part;

/* One direction of a case. */
typedef struct direction {
    const char *suffix;
    epop_window_t window;
    int new_ranks[RANKS_MAX], counts[2][RANKS_MAX], starts[2][RANKS_MAX]; /* sending, receiving; bytes */
    MPI_Datatype types[2][RANKS_MAX];                                     /* for MPI_Alltoallw */
    part parts[2][RANKS_MAX];
    int ones[2][RANKS_MAX], none[RANKS_MAX];
    int64_t moved, elements[2];
    double seconds[REPETITIONS_MAX], alltoallv[REPETITIONS_MAX], again[REPETITIONS_MAX], alltoallw[REPETITIONS_MAX],
        packing[REPETITIONS_MAX];
} direction;

/* What two ranks have in common, as a part of the local array of one of them. */
static MPI_Datatype common(const epop_blocks_t *blocks, int mine, int my_size, int other, int other_size, part *part)
{
    int64_t first[2][D], count[2][D];
    MPI_Datatype type;
    epop_blocks_local(blocks, mine, my_size, first[0], count[0]);
    epop_blocks_local(blocks, other, other_size, first[1], count[1]);
    for (int i = 0; i < blocks->dims; i++) {
        int64_t begin = first[0][i] > first[1][i] ? first[0][i] : first[1][i];
        int64_t ends[] = {first[0][i] + count[0][i], first[1][i] + count[1][i]};
        int64_t end = ends[0] < ends[1] ? ends[0] : ends[1];
        if (end <= begin)
            return MPI_DATATYPE_NULL;
        part->sizes[i] = (int)count[0][i] + 2 * blocks->ghosts[i];
        part->lengths[i] = (int)(end - begin);
        part->starts[i] = (int)(begin - first[0][i]) + blocks->ghosts[i];
    }
    MPI_Type_create_subarray(blocks->dims, part->sizes, part->lengths, part->starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void plan_by_hand(direction *d, const epop_blocks_t *blocks)
{
    const epop_window_t *w = &d->window;
    for (int r = 0; r < size; r++) {
        int old = r < w->old_size ? r : -1, new = d->new_ranks[r], bytes;
        for (int way = 0; way < 2; way++) {
            part *part = &d->parts[way][r];
            d->types[way][r] = way ? common(blocks, w->new_rank, w->new_size, old, w->old_size, part)
                                   : common(blocks, w->old_rank, w->old_size, new, w->new_size, part);
            d->ones[way][r] = d->types[way][r] != MPI_DATATYPE_NULL;
            if (!d->ones[way][r])
                d->types[way][r] = MPI_DOUBLE;
            MPI_Type_size(d->types[way][r], &bytes);
            d->counts[way][r] = d->ones[way][r] ? bytes : 0;
            d->starts[way][r] = r ? d->starts[way][r - 1] + d->counts[way][r - 1] : 0;
            d->moved += !way && r != rank ? d->counts[way][r] : 0;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &d->moved, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    d->elements[0] = epop_blocks_elements(blocks, w->old_rank, w->old_size);
    d->elements[1] = epop_blocks_elements(blocks, w->new_rank, w->new_size);
}

static direction *make_direction(const epop_blocks_t *blocks, int old_size, int new_size, const char *suffix)
{
    direction *d = allocate(sizeof *d);
    memset(d, 0, sizeof *d);
    d->suffix = suffix;
    d->window = make_window(old_size, new_size, d->new_ranks);
    plan_by_hand(d, blocks);
    return d;
}

static double time_redist(direction *d, const epop_blocks_t *blocks, double **array)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (epop_redist_blocks(&d->window, blocks, blocks, MPI_DOUBLE, array) != EPOP_OK)
        fail("redistribution failed");
    return slowest(MPI_Wtime() - start);
}

char piece[PIECE]; /* not static: what nobody reads need not be written */

/* Line by line of three dimensions, into a piece of memory that stays in the cache. */
static void pack_part(const part *p, const double *array)
{
    size_t line = (size_t)p->lengths[2] * sizeof *array, at = 0;
    for (int64_t i = p->starts[0]; i < p->starts[0] + p->lengths[0]; i++)
        for (int64_t j = p->starts[1]; j < p->starts[1] + p->lengths[1]; j++) {
            at = at + line <= PIECE ? at : 0;
            memcpy(piece + at, array + (i * p->sizes[1] + j) * p->sizes[2] + p->starts[2], line);
            at += line;
        }
}

/* All that goes to other ranks. */
static double time_packing(const direction *d, const double *array)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int r = 0; r < size; r++)
        if (r != rank && d->ones[0][r])
            pack_part(&d->parts[0][r], array);
    return slowest(MPI_Wtime() - start);
}

/* The new array is allocated in the measured time, as it has to be by hand. */
static double time_alltoallv(direction *d)
{
    int last = size - 1;
    int64_t out = d->starts[0][last] + d->counts[0][last], in = d->starts[1][last] + d->counts[1][last];
    char *from = allocate(out);
    memset(from, 1, (size_t)out + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    char *to = allocate(in);
    MPI_Alltoallv(from, d->counts[0], d->starts[0], MPI_BYTE, to, d->counts[1], d->starts[1], MPI_BYTE, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    free(from);
    free(to);
    return slowest(seconds);
}

static double time_alltoallw(direction *d)
{
    int64_t bytes = (int64_t)sizeof(double);
    char *from = allocate(d->elements[0] * bytes);
    memset(from, 1, (size_t)(d->elements[0] * bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    char *to = allocate(d->elements[1] * bytes);
    MPI_Alltoallw(from, d->ones[0], d->none, d->types[0], to, d->ones[1], d->none, d->types[1], MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    free(from);
    free(to);
    return slowest(seconds);
}

static void report(direction *d, const char *name, int repetitions)
{
    double ours = median(d->seconds, repetitions), v = median(d->alltoallv, repetitions);
    double w = median(d->alltoallw, repetitions);
    if (rank == 0)
        printf("{\"bench\":\"blocks\",\"case\":\"%s %s\",\"ranks\":%d,\"bytes\":%lld,\"seconds\":%.6f,"
               "\"alltoallv_seconds\":%.6f,\"ratio\":%.2f,\"again_ratio\":%.2f,\"alltoallw_seconds\":%.6f,"
               "\"ratio_alltoallw\":%.2f,\"packing_ratio\":%.2f}\n",
               name, d->suffix, size, (long long)d->moved, ours, v, ours / v, median(d->again, repetitions) / v, w,
               ours / w, median(d->packing, repetitions) / v);
    fflush(stdout);
}

static void run_redist(const char *name, const epop_blocks_t *blocks, int repetitions)
{
    int half = (size + 1) / 2;
    direction *ways[] = {make_direction(blocks, half, size, "expand"), make_direction(blocks, size, half, "shrink")};
    double *array = ways[0]->elements[0] ? allocate(ways[0]->elements[0] * (int64_t)sizeof *array) : NULL;
    for (int64_t e = 0; e < ways[0]->elements[0]; e++)
        array[e] = (double)e;
    for (int i = -1; i < repetitions; i++) { /* the first one warms up */
        int at = i < 0 ? 0 : i;
        for (int way = 0; way < 2; way++) {
            ways[way]->packing[at] = time_packing(ways[way], array);
            ways[way]->seconds[at] = time_redist(ways[way], blocks, &array);
        }
        for (int way = 0; way < 2; way++) {
            ways[way]->alltoallv[at] = time_alltoallv(ways[way]);
            ways[way]->alltoallw[at] = time_alltoallw(ways[way]);
        }
        for (int way = 0; way < 2; way++)
            ways[way]->again[at] = time_alltoallv(ways[way]);
    }
    for (int way = 0; way < 2; way++) {
        report(ways[way], name, repetitions);
        free(ways[way]);
    }
    free(array);
}

/* ---- Ghosts -------------------------------------------------------------------- */

/* By hand, in three dimensions with one layer. */
typedef struct hand {
    MPI_Comm cart;
    int count, peers[DIRECTIONS], tags[2][DIRECTIONS];
    MPI_Datatype types[2][DIRECTIONS];
} hand;

static MPI_Datatype face(const int64_t *count, const int *step, int receives)
{
    int sizes[3], lengths[3], starts[3];
    MPI_Datatype type;
    for (int i = 0; i < 3; i++) {
        int n = (int)count[i];
        sizes[i] = n + 2;
        lengths[i] = step[i] ? 1 : n;
        starts[i] = step[i] < 0 ? !receives : step[i] > 0 ? n + receives : 1;
    }
    MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static hand by_hand(const epop_blocks_t *blocks, const int64_t *count)
{
    hand h = {.count = 0};
    int grid[D], at[3];
    epop_blocks_grid(blocks, size, grid);
    MPI_Cart_create(MPI_COMM_WORLD, 3, grid, blocks->periodic, 0, &h.cart);
    MPI_Cart_coords(h.cart, rank, 3, at);
    for (int d = 0; d < DIRECTIONS; d++) {
        int step[] = {d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1}, there[3], outside = 0;
        for (int i = 0; i < 3; i++) {
            there[i] = at[i] + step[i];
            outside = outside || (!blocks->periodic[i] && (there[i] < 0 || there[i] >= grid[i]));
        }
        if (outside || d == DIRECTIONS / 2)
            continue;
        MPI_Cart_rank(h.cart, there, &h.peers[h.count]);
        h.types[0][h.count] = face(count, step, 0);
        h.types[1][h.count] = face(count, step, 1);
        h.tags[0][h.count] = d;
        h.tags[1][h.count++] = DIRECTIONS - 1 - d;
    }
    return h;
}

static void exchange_by_hand(const hand *h, double *array)
{
    MPI_Request requests[2 * DIRECTIONS];
    MPI_Status statuses[2 * DIRECTIONS];
    for (int i = 0; i < h->count; i++)
        MPI_Irecv(array, 1, h->types[1][i], h->peers[i], h->tags[1][i], h->cart, &requests[i]);
    for (int i = 0; i < h->count; i++)
        MPI_Isend(array, 1, h->types[0][i], h->peers[i], h->tags[0][i], h->cart, &requests[h->count + i]);
    MPI_Waitall(2 * h->count, requests, statuses);
}

static double time_ghosts(const epop_blocks_t *blocks, const hand *h, double *array, int times)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < times; i++) {
        if (h)
            exchange_by_hand(h, array);
        else if (epop_halo_exchange(blocks, MPI_DOUBLE, array) != EPOP_OK)
            fail("no exchange");
    }
    return slowest(MPI_Wtime() - start) / times;
}

static void run_ghosts(const char *name, const epop_blocks_t *blocks, int repetitions)
{
    enum { TIMES = 50 };
    static double ours[REPETITIONS_MAX], theirs[REPETITIONS_MAX];
    int64_t first[D], count[D], elements = epop_blocks_elements(blocks, rank, size);
    epop_blocks_local(blocks, rank, size, first, count);
    double *arrays[2];
    for (int a = 0; a < 2; a++) {
        arrays[a] = allocate(elements * (int64_t)sizeof *arrays[a]);
        for (int64_t e = 0; e < elements; e++)
            arrays[a][e] = (double)(rank * elements + e);
    }
    hand h = by_hand(blocks, count);
    for (int i = -1; i < repetitions; i++) {
        int at = i < 0 ? 0 : i;
        ours[at] = time_ghosts(blocks, NULL, arrays[0], TIMES);
        theirs[at] = time_ghosts(blocks, &h, arrays[1], TIMES);
    }
    for (int64_t e = 0; blocks->periodic[0] && e < elements; e++) /* else ours brings the boundary along, too */
        if (arrays[0][e] != arrays[1][e])
            fail("the two differ");
    double one = median(ours, repetitions), two = median(theirs, repetitions);
    if (rank == 0)
        printf("{\"bench\":\"blocks\",\"case\":\"%s\",\"ranks\":%d,\"seconds\":%.9f,\"by_hand_seconds\":%.9f,"
               "\"ratio\":%.2f}\n",
               name, size, one, two, one / two);
    fflush(stdout);
    for (int i = 0; i < h.count; i++)
        for (int way = 0; way < 2; way++)
            MPI_Type_free(&h.types[way][i]);
    MPI_Comm_free(&h.cart);
    free(arrays[0]);
    free(arrays[1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t side = argc > 1 ? atoi(argv[1]) : 200;
    int repetitions = argc > 2 ? atoi(argv[2]) : 11;
    reuse_memory();
    if (size < 2 || size > RANKS_MAX || side < size || side > 1000 || repetitions < 1 || repetitions > REPETITIONS_MAX)
        fail("usage: mpiexec -n 2..64 blocks [SIDE [REPETITIONS]]");
    epop_blocks_t cube = {.dims = 3, .count = {side, side, side}, .ghosts = {1, 1, 1}};
    epop_blocks_t slabs = cube, plain = cube, ring = cube;
    slabs.grid[1] = slabs.grid[2] = 1;
    memset(plain.ghosts, 0, sizeof plain.ghosts);
    for (int i = 0; i < 3; i++)
        ring.periodic[i] = 1;
    run_redist("3d", &cube, repetitions);
    run_redist("3d in slabs", &slabs, repetitions);
    run_redist("3d without ghosts", &plain, repetitions);
    const char *names[] = {"ghosts of a cube", "ghosts of a tenth", "ghosts of slabs", "ghosts of a periodic cube"};
    epop_blocks_t small = cube;
    small.count[0] = small.count[1] = small.count[2] = side / 10 < size ? size : side / 10;
    const epop_blocks_t *kinds[] = {&cube, &small, &slabs, &ring};
    for (int i = 0; i < 4; i++)
        run_ghosts(names[i], kinds[i], repetitions);
    MPI_Finalize();
    return 0;
}
