/*
 * How long ScaLAPACK's pdgesv takes: what examples/gauss is measured against, with the same BLAS and the same matrix.
 *     mpiexec.mpich -n 2 build/bench/pdgesv [N [block [process rows]]]
 * Tries every process grid with the ranks there are (or the one with the given rows) and prints the best as a JSON
 * line.
 */
#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ScaLAPACK and BLACS bring no C header: these are the Fortran symbols. */
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *index, const int *source, const int *count);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row_source,
               const int *col_source, const int *context, const int *lld, int *info);
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja, const int *desca, int *pivots,
             double *b, const int *ib, const int *jb, const int *descb, int *info);

static const int zero = 0, one = 1;

typedef struct grid {
    int context, rows, cols, row, col;
} grid_t;

/* The matrix of examples/gauss --random: an entry depends on nothing but its place. */
static double entry(uint64_t row, uint64_t col)
{
    uint64_t z = (row << 32 | col) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 32) * 0x1p-32 - 0.5;
}

static int global_index(int local, int block, int process, int count)
{
    return (local / block * count + process) * block + local % block;
}

static double *distributed(const grid_t *grid, int n, int columns, int block, int desc[9])
{
    int rows = numroc_(&n, &block, &grid->row, &zero, &grid->rows);
    int cols = numroc_(&columns, &block, &grid->col, &zero, &grid->cols);
    int lld = rows > 0 ? rows : 1, info;
    descinit_(desc, &n, &columns, &block, &block, &zero, &zero, &grid->context, &lld, &info);
    double *a = malloc(sizeof(double) * ((size_t)rows * (size_t)cols + 1));
    if (info != 0 || !a)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            a[(size_t)j * (size_t)rows + (size_t)i] =
                entry((uint64_t)global_index(i, block, grid->row, grid->rows),
                      (uint64_t)(columns == 1 ? n : global_index(j, block, grid->col, grid->cols)));
    return a;
}

/* Seconds of one solution on a grid_rows x (ranks / grid_rows) grid. */
static double solve(int ranks, int grid_rows, int n, int block)
{
    grid_t grid;
    Cblacs_get(-1, 0, &grid.context);
    Cblacs_gridinit(&grid.context, "Row", grid_rows, ranks / grid_rows);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    int desc_a[9], desc_b[9], info;
    double *a = distributed(&grid, n, n, block, desc_a);
    double *b = distributed(&grid, n, 1, block, desc_b);
    int *pivots = malloc(sizeof(int) * (size_t)(n + block));
    if (!pivots)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    pdgesv_(&n, &one, a, &one, &one, desc_a, pivots, b, &one, &one, desc_b, &info);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    if (info != 0 || (grid.col == 0 && !isfinite(b[0])))
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(a);
    free(b);
    free(pivots);
    Cblacs_gridexit(grid.context);
    return seconds;
}

int main(int argc, char **argv)
{
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = argc > 1 ? atoi(argv[1]) : 2048;
    int block = argc > 2 ? atoi(argv[2]) : 64;
    int only = argc > 3 ? atoi(argv[3]) : 0;
    openblas_set_num_threads(1);
    double best = INFINITY;
    int best_rows = 0;
    for (int rows = 1; rows <= ranks; rows++)
        for (int run = 0; run < 3 && ranks % rows == 0 && (only == 0 || only == rows); run++) {
            double seconds = solve(ranks, rows, n, block);
            if (seconds < best) {
                best = seconds;
                best_rows = rows;
            }
        }
    if (rank == 0)
        printf(
            "{\"bench\": \"pdgesv\", \"ranks\": %d, \"n\": %d, \"block\": %d, \"grid\": \"%dx%d\", \"seconds\": %.6f, "
            "\"gflops\": %.2f}\n",
            ranks, n, block, best_rows, best_rows ? ranks / best_rows : 0, best,
            (2.0 / 3.0 * n + 2.0) * n * (double)n / best * 1e-9);
    MPI_Finalize();
    return 0;
}
