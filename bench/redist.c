/*
 * Redistribution beside MPI_Alltoallv of the same bytes: expand and shrink between half of the ranks and all of them.
 * MPI_Alltoallv gets its buffers packed, which by hand comes on top. Beside it what a ratio stands against:
 * MPI_Alltoallv once more, over itself, and the processor time of all ranks, which no cores are faster than. The bytes
 * sent are counted, not assumed. And a CSR matrix with its column indices and values in one call, beside two calls with
 * one array each.
 *
 *   mpiexec -n 4 redist [MIB [REPETITIONS [CASE [MEMORY]]]]     one line of JSON per case
 *
 * CASE is part of the names of those to run; MEMORY is fresh or reused (set_memory).
 */
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epop/redist.h>

#include "bench/windows.h"

static int64_t sent_bytes;

/* libepop calls MPI by its profiling names, which a program may define as well. */
static int count_sent(int count, MPI_Datatype type, int error)
{
    MPI_Count bytes;
    MPI_Type_size_x(type, &bytes);
    sent_bytes += count * bytes;
    return error;
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return count_sent(count, type, MPI_Isend(buffer, count, type, to, tag, comm, request));
}

int PMPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return count_sent(count, type, MPI_Issend(buffer, count, type, to, tag, comm, request));
}

int PMPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return count_sent(count, type, MPI_Send(buffer, count, type, to, tag, comm));
}

typedef struct layout {
    const char *name;
    epop_dist_t rows, cols;
    int one_row, column_major;
} layout;

/* Times of one way to do it; of the processor over all ranks. */
typedef struct times {
    double seconds[REPETITIONS_MAX], processor[REPETITIONS_MAX];
} times;

/* One direction of a case. */
typedef struct direction {
    const char *suffix;
    int new_ranks[RANKS_MAX];
    epop_window_t window;
    epop_dist2d_t before, after;
    int counts[2][RANKS_MAX], starts[2][RANKS_MAX]; /* of Alltoallv, sending and receiving; bytes */
    int64_t least, moved;                           /* bytes, over all ranks */
    times redist, alltoallv, again;
} direction;

static epop_dist2d_t distribute(const layout *l, int ranks)
{
    epop_dist2d_t dist = {.rows = l->rows, .cols = l->cols, .grid_rows = 1, .grid_cols = ranks};
    if (!l->one_row)
        epop_grid_near_square(ranks, &dist.grid_rows, &dist.grid_cols);
    dist.column_major = l->column_major;
    return dist;
}

static int starts_of(const int *counts, int *starts)
{
    int sum = 0;
    for (int r = 0; r < size; r++) {
        starts[r] = sum;
        sum += counts[r];
    }
    return sum;
}

static void plan_alltoallv(direction *d)
{
    epop_redist_move_t *moves;
    int count;
    if (epop_redist2d_map(&d->window, &d->before, &d->after, &moves, &count) != EPOP_OK)
        fail("no map");
    d->least = 0;
    memset(d->counts, 0, sizeof d->counts);
    for (int i = 0; i < count; i++) {
        int64_t bytes = moves[i].count * (int64_t)sizeof(double);
        if (bytes > INT_MAX)
            fail("too large for MPI_Alltoallv");
        if (moves[i].from == rank)
            d->counts[0][moves[i].to] = (int)bytes;
        if (moves[i].to == rank)
            d->counts[1][moves[i].from] = (int)bytes;
        d->least += moves[i].from == moves[i].to ? 0 : bytes;
    }
    free(moves);
}

static direction *make_direction(const layout *l, int old_size, int new_size, const char *suffix)
{
    direction *d = allocate(sizeof *d);
    d->suffix = suffix;
    d->window = make_window(old_size, new_size, d->new_ranks);
    d->before = distribute(l, old_size);
    d->after = distribute(l, new_size);
    plan_alltoallv(d);
    return d;
}

static double processor_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Since `start` and `processor`, as number `at`. */
static void note_times(times *t, int at, double start, double processor)
{
    double seconds = MPI_Wtime() - start;
    processor = processor_now() - processor;
    t->seconds[at] = slowest(seconds);
    MPI_Allreduce(&processor, &t->processor[at], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void time_redist(direction *d, const layout *l, void **block, int at)
{
    gather();
    int64_t sent_before = sent_bytes;
    double processor = processor_now(), start = MPI_Wtime();
    int result = l->one_row ? epop_redist(&d->window, l->cols, MPI_DOUBLE, block)
                            : epop_redist2d(&d->window, &d->before, &d->after, MPI_DOUBLE, block);
    note_times(&d->redist, at, start, processor);
    if (result != EPOP_OK)
        fail("redistribution failed");
    int64_t sent = sent_bytes - sent_before;
    MPI_Allreduce(&sent, &d->moved, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* The new block is allocated in the measured time, as it has to be in a redistribution by hand. */
static void time_alltoallv(direction *d, times *t, int at)
{
    int64_t out = starts_of(d->counts[0], d->starts[0]), in = starts_of(d->counts[1], d->starts[1]);
    char *from = allocate(out);
    memset(from, 1, (size_t)out + 1);
    gather();
    double processor = processor_now(), start = MPI_Wtime();
    char *to = allocate(in);
    MPI_Alltoallv(from, d->counts[0], d->starts[0], MPI_BYTE, to, d->counts[1], d->starts[1], MPI_BYTE, MPI_COMM_WORLD);
    note_times(t, at, start, processor);
    free(from);
    free(to);
}

static void report(direction *d, const layout *l, int repetitions)
{
    double ours = median(d->redist.seconds, repetitions), theirs = median(d->alltoallv.seconds, repetitions);
    double again = median(d->again.seconds, repetitions), processor = median(d->redist.processor, repetitions);
    if (rank == 0) /* all are sorted now */
        printf("{\"bench\":\"redist\",\"case\":\"%s %s\",\"ranks\":%d,\"bytes\":%lld,\"bytes_over_least\":%.2f,"
               "\"seconds\":%.6f,\"alltoallv_seconds\":%.6f,\"ratio\":%.2f,\"fastest_ratio\":%.2f,"
               "\"again_ratio\":%.2f,\"processor_ratio\":%.2f}\n",
               l->name, d->suffix, size, (long long)d->moved, d->least > 0 ? (double)d->moved / (double)d->least : 1.0,
               ours, theirs, ours / theirs, d->redist.seconds[0] / d->alltoallv.seconds[0], again / theirs,
               processor / median(d->alltoallv.processor, repetitions));
    fflush(stdout);
}

/* Expands and shrinks again, so that every repetition starts with the same blocks. */
static void run_case(const layout *l, int repetitions)
{
    int half = (size + 1) / 2;
    direction *grow = make_direction(l, half, size, "expand"), *shrink = make_direction(l, size, half, "shrink");
    int64_t rows, cols;
    epop_dist2d_local(&grow->before, grow->window.old_rank, &rows, &cols);
    double *values = rows * cols > 0 ? allocate(rows * cols * (int64_t)sizeof *values) : NULL;
    for (int64_t i = 0; i < rows * cols; i++)
        values[i] = (double)i;
    void *block = values;
    for (int i = -1; i < repetitions; i++) { /* the first one warms up */
        int at = i < 0 ? 0 : i;
        time_redist(grow, l, &block, at);
        time_redist(shrink, l, &block, at);
        time_alltoallv(grow, &grow->alltoallv, at);
        time_alltoallv(shrink, &shrink->alltoallv, at);
        time_alltoallv(grow, &grow->again, at);
        time_alltoallv(shrink, &shrink->again, at);
    }
    for (int64_t i = 0; i < rows * cols; i++)
        if (((double *)block)[i] != (double)i)
            fail("an element is not where it was");
    report(grow, l, repetitions);
    report(shrink, l, repetitions);
    free(block);
    free(grow);
    free(shrink);
}

/* ---- Rows ---- */

/* A matrix of CSR, with 7 nonzeros a row as of a stencil in three dimensions. */
typedef struct csr {
    epop_dist_t rows;
    void *starts, *columns, *values;
} csr;

enum { NONZEROS = 7 };

static csr make_csr(int64_t count, int ranks)
{
    csr m = {.rows = epop_dist_block(count)};
    int64_t rows = epop_dist_local_count(m.rows, rank < ranks ? rank : -1, ranks);
    int *starts = allocate((rows + 1) * (int64_t)sizeof *starts);
    int *columns = allocate(rows * NONZEROS * (int64_t)sizeof *columns);
    double *values = allocate(rows * NONZEROS * (int64_t)sizeof *values);
    for (int64_t i = 0; i <= rows; i++)
        starts[i] = (int)(i * NONZEROS);
    for (int64_t i = 0; i < rows * NONZEROS; i++)
        values[i] = columns[i] = (int)(i % 1000);
    m.starts = starts;
    m.columns = columns;
    m.values = values;
    return m;
}

static double time_once(const epop_window_t *window, csr *m)
{
    const epop_row_array_t arrays[] = {{MPI_INT, &m->columns}, {MPI_DOUBLE, &m->values}};
    gather();
    double begin = MPI_Wtime();
    if (epop_redist_csr(window, m->rows, m->rows, MPI_INT, &m->starts, arrays, 2) != EPOP_OK)
        fail("rows cannot be moved");
    return slowest(MPI_Wtime() - begin);
}

/* The first call replaces the starts, so that the second one has a copy. */
static double time_twice(const epop_window_t *window, csr *m)
{
    const epop_row_array_t columns = {MPI_INT, &m->columns}, values = {MPI_DOUBLE, &m->values};
    int64_t rows = epop_dist_local_count(m->rows, window->old_rank, window->old_size);
    gather();
    double begin = MPI_Wtime();
    void *copy = m->starts ? allocate((rows + 1) * (int64_t)sizeof(int)) : NULL;
    if (copy)
        memcpy(copy, m->starts, (size_t)(rows + 1) * sizeof(int));
    if (epop_redist_csr(window, m->rows, m->rows, MPI_INT, &copy, &columns, 1) != EPOP_OK ||
        epop_redist_csr(window, m->rows, m->rows, MPI_INT, &m->starts, &values, 1) != EPOP_OK)
        fail("rows cannot be moved");
    free(copy);
    return slowest(MPI_Wtime() - begin);
}

static void report_rows(const char *suffix, int64_t bytes, double *once, double *twice, int repetitions)
{
    double one = median(once, repetitions), two = median(twice, repetitions);
    if (rank == 0)
        printf("{\"bench\":\"redist\",\"case\":\"csr %s\",\"ranks\":%d,\"bytes\":%lld,\"seconds\":%.6f,"
               "\"two_calls_seconds\":%.6f,\"ratio\":%.2f}\n",
               suffix, size, (long long)bytes, one, two, one / two);
    fflush(stdout);
}

static void run_rows(int64_t bytes, int repetitions)
{
    static double once[2][REPETITIONS_MAX], twice[2][REPETITIONS_MAX];
    static int new_ranks[2][RANKS_MAX];
    int half = (size + 1) / 2;
    const epop_window_t windows[] = {make_window(half, size, new_ranks[0]), make_window(size, half, new_ranks[1])};
    csr m = make_csr(bytes / (NONZEROS * (int64_t)(sizeof(int) + sizeof(double))), half);
    for (int i = -1; i < repetitions; i++) { /* the first one warms up */
        int at = i < 0 ? 0 : i;
        for (int way = 0; way < 2; way++)
            once[way][at] = time_once(&windows[way], &m);
        for (int way = 0; way < 2; way++)
            twice[way][at] = time_twice(&windows[way], &m);
    }
    report_rows("expand", bytes, once[0], twice[0], repetitions);
    report_rows("shrink", bytes, once[1], twice[1], repetitions);
    free(m.starts);
    free(m.columns);
    free(m.values);
}

/*
 * Fresh: every block comes from the kernel, as large ones do unless the allocator kept one that was freed. Reused: none
 * does after the first round. Left to itself, malloc() does now one and now the other.
 */
static void set_memory(bool reused)
{
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    if (reused)
        reuse_memory();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t mib = argc > 1 ? atoi(argv[1]) : 64, side = 1;
    int repetitions = argc > 2 ? atoi(argv[2]) : 11;
    bool reused = argc > 4 && !strcmp(argv[4], "reused");
    set_memory(reused);
    const char *only = argc > 3 ? argv[3] : "";
    if (size < 2 || size > RANKS_MAX || mib < 1 || repetitions < 1 || repetitions > REPETITIONS_MAX)
        fail("usage: mpiexec -n 2..64 redist [MIB [REPETITIONS [CASE [MEMORY]]]]");
    int64_t count = (mib << 20) / (int64_t)sizeof(double);
    while ((side + 1) * (side + 1) <= count)
        side++;
    const layout layouts[] = {
        {"block", epop_dist_block(1), epop_dist_block(count), 1, 0},
        {"cyclic", epop_dist_block(1), epop_dist_cyclic(count), 1, 0},
        {"block-cyclic 64", epop_dist_block(1), epop_dist_block_cyclic(count, 64), 1, 0},
        {"2d block", epop_dist_block(side), epop_dist_block(side), 0, 0},
        {"2d cyclic", epop_dist_cyclic(side), epop_dist_cyclic(side), 0, 0},
        {"2d block-cyclic 64", epop_dist_block_cyclic(side, 64), epop_dist_block_cyclic(side, 64), 0, 1},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (strstr(layouts[i].name, only))
            run_case(&layouts[i], repetitions);
    if (strstr("csr", only))
        run_rows(mib << 20, repetitions);
    MPI_Finalize();
    return 0;
}
