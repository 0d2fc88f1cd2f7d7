/* Products with A as it was before the elimination: the right-hand side of a known solution, and the check of x. */
#ifndef GAUSS_RESIDUAL_H
#define GAUSS_RESIDUAL_H

#include "gauss/lu.h"
#include "gauss/problem.h"

typedef struct residual {
    double scaled; /* max |b - A x| / (||A|| max |x| n epsilon), in the maximum norm: below 16 is as good as it gets */
    double relative; /* max |b - A x| / max |b| */
    double error;    /* max |x - known x| / max |known x|; -1 if no x is known */
} residual_t;

/* lu->b = A x for the known x. lu->a must hold A. Collective. */
void residual_right_side(lu_t *lu, MPI_Comm comm);

/*
 * Reads A again, over the eliminated columns, and finds how well x, in lu->b, solves A x = b. 0, or an error number
 * on all ranks, after a message. Collective.
 */
int residual_of(const problem_t *problem, lu_t *lu, MPI_Comm comm, residual_t *residual);

#endif
