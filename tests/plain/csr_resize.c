/*
 * A sparse matrix in CSR form, and a vector, in an executable that is resized: rows balanced by their nonzeros, a row
 * pointer of int and of int64_t in turn. After each adaptation every element is looked at. Iterates until the file
 * exists.     csr_resize FILE
 */
#include <epop/mpi_adapt.h>
#include <epop/redist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 311 };

static struct {
    epop_dist_t rows;
    void *starts, *columns, *values, *x;
    int adaptations; /* even: starts are int; odd: int64_t */
} matrix;

static void fail(const char *what, int64_t at)
{
    printf("WRONG: %s %lld after %d adaptations\n", what, (long long)at, matrix.adaptations);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void require(int condition, const char *what, int64_t at)
{
    if (!condition)
        fail(what, at);
}

static int64_t length_of(int64_t row)
{
    return row % 50 == 7 ? 400 : row * 7 % 11;
}

static int column_of(int64_t row, int64_t k)
{
    return (int)((row + 3 * k) % ROWS);
}

static double value_of(int64_t row, int64_t k)
{
    return (double)row + (double)k / 1024;
}

static int64_t start_at(int64_t row)
{
    return matrix.adaptations % 2 ? ((int64_t *)matrix.starts)[row] : ((int *)matrix.starts)[row];
}

static int64_t owned(int *rank, int *size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return epop_dist_local_count(matrix.rows, *rank, *size);
}

static void check(void)
{
    int rank, size;
    int64_t count = owned(&rank, &size), all = 0, at = 0;
    require(start_at(0) == 0, "first start", start_at(0));
    for (int64_t i = 0; i < count; i++) {
        int64_t row = epop_dist_global(matrix.rows, rank, size, i);
        require(((double *)matrix.x)[i] == value_of(row, -1), "entry", row);
        require(start_at(i + 1) - start_at(i) == length_of(row), "length of row", row);
        for (int64_t k = 0; k < length_of(row); k++, at++) {
            require(((int *)matrix.columns)[at] == column_of(row, k), "column in row", row);
            require(((double *)matrix.values)[at] == value_of(row, k), "value in row", row);
        }
    }
    MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    require(all == ROWS, "rows", all);
}

/* No part is heavier than it should be by more than the heaviest row. */
static void check_balance(int size)
{
    int64_t total = 0;
    for (int64_t row = 0; row < ROWS; row++)
        total += length_of(row);
    for (int rank = 0; rank < size; rank++) {
        int64_t part = 0;
        for (int64_t row = matrix.rows.starts[rank]; row < matrix.rows.starts[rank + 1]; row++)
            part += length_of(row);
        require(part <= total / size + 1 + 400, "nonzeros", part);
    }
}

static void start(void)
{
    int rank, size;
    matrix.rows = epop_dist_block(ROWS);
    int64_t count = owned(&rank, &size), nonzeros = 0;
    int *starts = calloc((size_t)count + 1, sizeof *starts), *columns = calloc(1 << 16, sizeof *columns);
    double *values = calloc(1 << 16, sizeof *values), *x = calloc((size_t)count + 1, sizeof *x);
    require(starts && columns && values && x, "memory", 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = epop_dist_global(matrix.rows, rank, size, i);
        x[i] = value_of(row, -1);
        for (int64_t k = 0; k < length_of(row); k++, nonzeros++) {
            columns[nonzeros] = column_of(row, k);
            values[nonzeros] = value_of(row, k);
        }
        starts[i + 1] = (int)nonzeros;
    }
    matrix.starts = starts;
    matrix.columns = columns;
    matrix.values = values;
    matrix.x = x;
}

/* The starts in the other type: int64_t after an odd number of adaptations. */
static void turn_starts(int64_t count)
{
    int64_t *wide = calloc((size_t)count + 1, sizeof *wide);
    int *narrow = calloc((size_t)count + 1, sizeof *narrow);
    require(wide && narrow, "memory", 0);
    for (int64_t i = 0; i <= count; i++) {
        wide[i] = start_at(i);
        narrow[i] = (int)start_at(i);
    }
    free(matrix.starts);
    matrix.adaptations++;
    matrix.starts = matrix.adaptations % 2 ? (void *)wide : (void *)narrow;
    free(matrix.adaptations % 2 ? (void *)narrow : (void *)wide);
}

static void move(const epop_window_t *w)
{
    const epop_row_array_t arrays[] = {{MPI_INT, &matrix.columns}, {MPI_DOUBLE, &matrix.values}};
    MPI_Datatype index = matrix.adaptations % 2 ? MPI_INT64_T : MPI_INT;
    int64_t count = w->old_rank < 0 ? 0 : epop_dist_local_count(matrix.rows, w->old_rank, w->old_size);
    int *weights = calloc((size_t)count + 1, sizeof *weights);
    epop_dist_t after;
    require(weights != NULL, "memory", 0);
    for (int64_t i = 0; i < count; i++)
        weights[i] = (int)(start_at(i + 1) - start_at(i));
    require(!epop_redist_balance(w, &matrix.rows, MPI_INT, weights, 1, &after), "balance", w->new_size);
    require(!epop_redist_csr(w, matrix.rows, after, index, &matrix.starts, arrays, 2), "rows", w->new_size);
    require(!epop_redist_between(w, matrix.rows, after, MPI_DOUBLE, &matrix.x), "vector", w->new_size);
    epop_dist_free(&matrix.rows);
    matrix.rows = after;
    free(weights);
}

static void adapt(void)
{
    MPI_Comm between, after;
    int staying, leaving, joining, rank, size;
    epop_window_t w;
    require(epop_mpi_window(&w) == EPOP_ERR_STATE && w.all == MPI_COMM_NULL, "window before begin", 0);
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    require(!epop_mpi_window(&w) && !epop_mpi_window(&w), "window", 0);
    require(w.after == after && w.intercomm == between && w.joining == joining && w.leaving == leaving, "window's", 0);
    require(!epop_redist_replicated(&w, &matrix.adaptations, 1, MPI_INT), "replicated", 0);
    move(&w);
    MPI_Comm_adapt_commit();
    require(epop_mpi_window(&w) == EPOP_ERR_STATE && !w.new_ranks, "window after commit", 0);
    if (after == MPI_COMM_NULL)
        return;
    check();
    turn_starts(owned(&rank, &size));
    check_balance(size);
}

/* Rank 0 decides for all. */
static int ends(const char *file)
{
    int rank, end = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        end = access(file, F_OK) == 0;
    MPI_Bcast(&end, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return end;
}

int main(int argc, char **argv)
{
    int status, pending = MPI_ADAPT_FALSE, rank, size;
    MPI_Init_adapt(&argc, &argv, &status);
    if (status == MPI_ADAPT_STATUS_JOINING)
        adapt();
    else
        start();
    do {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt();
        usleep(500);
    } while (status != MPI_ADAPT_STATUS_LEAVING && !ends(argv[1]));
    if (status != MPI_ADAPT_STATUS_LEAVING) {
        check();
        owned(&rank, &size);
        if (rank == 0)
            printf("right at the end, %d processes, %d adaptations\n", size, matrix.adaptations);
    }
    epop_dist_free(&matrix.rows);
    free(matrix.starts);
    free(matrix.columns);
    free(matrix.values);
    free(matrix.x);
    MPI_Finalize();
    return 0;
}
