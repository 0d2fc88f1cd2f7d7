/*
 * Back substitution, from the last block column to the first. Every rank sums up what its columns take from the rows
 * above; the owner of a block collects these sums for its rows alone and solves its triangle.
 */
#include "gauss/lu.h"

#include <cblas.h>
#include <string.h>

void lu_solve(lu_t *lu, MPI_Comm comm)
{
    int rank, size, ld = (int)lu->ld;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    double *taken = lu->panel, *sum = lu->top; /* the panels have served their turn */
    memset(taken, 0, sizeof(double) * (size_t)lu->n);
    for (int64_t first = (lu->n - 1) / lu->block * lu->block; first >= 0; first -= lu->block) {
        int64_t local;
        int width = lu->n - first < lu->block ? (int)(lu->n - first) : (int)lu->block;
        int owner = epop_dist_owner(lu_columns(lu), size, first, &local);
        double *x = lu->b + first;
        MPI_Reduce(taken + first, sum, width, MPI_DOUBLE, MPI_SUM, owner, comm);
        if (owner != rank) {
            memset(x, 0, sizeof(double) * (size_t)width);
            continue;
        }
        const double *u = lu->a + local * lu->ld;
        cblas_daxpy(width, -1.0, sum, 1, x, 1);
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, width, u + first, ld, x, 1);
        if (first > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)first, width, 1.0, u, ld, x, 1, 1.0, taken, 1);
    }
    /* Each rank has its own blocks of x, and zeros elsewhere. */
    MPI_Allreduce(MPI_IN_PLACE, lu->b, (int)lu->n, MPI_DOUBLE, MPI_SUM, comm);
}
