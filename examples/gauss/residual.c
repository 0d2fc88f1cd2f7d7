/* Products with A's columns, each rank its own, summed up over the ranks. */
#include "gauss/residual.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/agree.h"

/* One column of A, and where it stands. */
typedef struct column {
    int64_t global;
    const double *a;
} column_t;

static int64_t column_count(const lu_t *lu, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return epop_dist_local_count(lu_columns(lu), rank, size);
}

static column_t column_at(const lu_t *lu, int64_t local, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return (column_t){epop_dist_global(lu_columns(lu), rank, size, local), lu->a + local * lu->ld};
}

void residual_right_side(lu_t *lu, MPI_Comm comm)
{
    int64_t count = column_count(lu, comm);
    memset(lu->b, 0, sizeof(double) * (size_t)lu->n);
    for (int64_t local = 0; local < count; local++) {
        column_t column = column_at(lu, local, comm);
        cblas_daxpy((int)lu->n, problem_known_x(column.global), column.a, 1, lu->b, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, lu->b, (int)lu->n, MPI_DOUBLE, MPI_SUM, comm);
}

/* What the check adds up, n numbers each. */
typedef struct sums {
    double *b, *ax, *row; /* b; A x; the row sums of |A| */
} sums_t;

static void add_columns(const lu_t *lu, MPI_Comm comm, int known, sums_t sums)
{
    int64_t count = column_count(lu, comm);
    for (int64_t local = 0; local < count; local++) {
        column_t column = column_at(lu, local, comm);
        cblas_daxpy((int)lu->n, lu->b[column.global], column.a, 1, sums.ax, 1);
        if (known)
            cblas_daxpy((int)lu->n, problem_known_x(column.global), column.a, 1, sums.b, 1);
        for (int64_t i = 0; i < lu->n; i++)
            sums.row[i] += fabs(column.a[i]);
    }
}

/* max |x - y|, with y NULL: max |x|; not a number where x is not. */
static double distance(int64_t n, const double *x, const double *y)
{
    double max = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(y ? x[i] - y[i] : x[i]);
        if (!(size <= max))
            max = size;
        if (isnan(max))
            break;
    }
    return max;
}

static double ratio(double part, double whole)
{
    return part == 0.0 ? 0.0 : part / whole;
}

static double forward_error(const lu_t *lu)
{
    double error = 0.0, max = 0.0;
    for (int64_t i = 0; i < lu->n; i++) {
        error = fmax(error, fabs(lu->b[i] - problem_known_x(i)));
        max = fmax(max, problem_known_x(i));
    }
    return error / max;
}

static int read_again(const problem_t *problem, lu_t *lu, MPI_Comm comm, double *b)
{
    char error[512];
    int rank, size, failed;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    failed = problem_columns(problem, lu_columns(lu), rank, size, lu->a, lu->ld, error, sizeof error);
    if (failed == 0 && problem->b_path && rank == 0)
        failed = problem_right_side(problem, b, error, sizeof error);
    return agree_on_error(comm, failed ? EPOP_ERR_SYSTEM : 0, "gauss", error);
}

int residual_of(const problem_t *problem, lu_t *lu, MPI_Comm comm, residual_t *residual)
{
    int64_t n = lu->n;
    double *all = calloc(3 * (size_t)n, sizeof(double));
    sums_t sums = {all, all + n, all + 2 * n};
    int error = agree_on_error(comm, all ? 0 : EPOP_ERR_MEMORY, "gauss", "out of memory");
    if (error == 0)
        error = read_again(problem, lu, comm, sums.b);
    if (error == 0) {
        add_columns(lu, comm, problem->b_path == NULL, sums);
        MPI_Allreduce(MPI_IN_PLACE, all, (int)(3 * n), MPI_DOUBLE, MPI_SUM, comm);
        double size = distance(n, sums.row, NULL) * distance(n, lu->b, NULL);
        double apart = distance(n, sums.b, sums.ax);
        residual->scaled = ratio(apart, size * (double)n * DBL_EPSILON);
        residual->relative = ratio(apart, distance(n, sums.b, NULL));
        residual->error = problem->b_path ? -1.0 : forward_error(lu);
    }
    free(all);
    return error;
}
