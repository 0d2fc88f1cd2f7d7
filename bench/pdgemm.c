/*
 * How long ScaLAPACK's pdgemm takes: what examples/cannon is measured against, with the same BLAS.
 *     mpiexec.mpich -n 4 build/bench/pdgemm [N [block [repeats]]]
 * Prints the median of several multiplications on the grid nearest to square as a JSON line.
 */
#include <cblas.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_REPEATS 100

/* ScaLAPACK and BLACS bring no C header: these are the Fortran symbols and BLACS' own C ones. */
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *index, const int *source, const int *count);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row_source,
               const int *col_source, const int *context, const int *lld, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *desca, const double *b, const int *ib,
             const int *jb, const int *descb, const double *beta, double *c, const int *ic, const int *jc,
             const int *descc);

typedef struct matrix {
    int desc[9];
    double *local;
} matrix_t;

static const int zero = 0, one = 1;

static matrix_t create_matrix(int context, int n, int block, uint64_t seed)
{
    matrix_t matrix;
    int grid_rows, grid_cols, row, col, info;
    Cblacs_gridinfo(context, &grid_rows, &grid_cols, &row, &col);
    int rows = numroc_(&n, &block, &row, &zero, &grid_rows);
    int cols = numroc_(&n, &block, &col, &zero, &grid_cols);
    int lld = rows > 0 ? rows : 1;
    descinit_(matrix.desc, &n, &n, &block, &block, &zero, &zero, &context, &lld, &info);
    size_t count = (size_t)rows * (size_t)cols;
    matrix.local = malloc((count + 1) * sizeof(double));
    if (!matrix.local || info != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + (uint64_t)(row * grid_cols + col);
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        matrix.local[i] = (double)(state >> 33) * 0x1p-30 - 1.0;
    }
    return matrix;
}

/* Seconds from the first rank's start to the last one's end. */
static double multiply_once(int n, const matrix_t *a, const matrix_t *b, matrix_t *c)
{
    const double alpha = 1, beta = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    pdgemm_("N", "N", &n, &n, &n, &alpha, a->local, &one, &one, a->desc, b->local, &one, &one, b->desc, &beta, c->local,
            &one, &one, c->desc);
    double seconds = MPI_Wtime() - start, slowest;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of_runs(int context, int n, int block, int repeats)
{
    matrix_t a = create_matrix(context, n, block, 1), b = create_matrix(context, n, block, 2);
    matrix_t c = create_matrix(context, n, block, 3);
    double seconds[MAX_REPEATS];
    for (int i = 0; i < repeats; i++)
        seconds[i] = multiply_once(n, &a, &b, &c);
    qsort(seconds, (size_t)repeats, sizeof(double), compare);
    free(a.local);
    free(b.local);
    free(c.local);
    return seconds[repeats / 2];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2048;
    int block = argc > 2 ? atoi(argv[2]) : 128;
    int repeats = argc > 3 ? atoi(argv[3]) : 5;
    MPI_Init(&argc, &argv);
    int ranks, rank, context, grid[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 1 || block < 1 || repeats < 1 || repeats > MAX_REPEATS) {
        if (rank == 0)
            fprintf(stderr, "usage: pdgemm [N [block [repeats, at most %d]]]\n", MAX_REPEATS);
        MPI_Finalize();
        return 2;
    }
    openblas_set_num_threads(1);
    MPI_Dims_create(ranks, 2, grid);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", grid[0], grid[1]);
    double seconds = median_of_runs(context, n, block, repeats);
    if (rank == 0)
        printf(
            "{\"bench\": \"pdgemm\", \"ranks\": %d, \"n\": %d, \"block\": %d, \"seconds\": %.6f, \"gflops\": %.2f}\n",
            ranks, n, block, seconds, 2.0 * n * n * n / seconds * 1e-9);
    Cblacs_gridexit(context);
    MPI_Finalize();
    return 0;
}
