/*
 * The system A x = b: where its entries come from (Matrix Market, .npy, or a formula). Every rank reads what it
 * needs by itself; nothing here communicates.
 */
#ifndef GAUSS_PROBLEM_H
#define GAUSS_PROBLEM_H

#include <epop/redist.h>

typedef struct problem {
    const char *a_path; /* NULL: random */
    const char *b_path; /* NULL: b = A x for x = problem_known_x */
    int64_t n;          /* order of A */
} problem_t;

/* Checks A's header and finds n. 0, or -1 with one line of text in error. */
int problem_open(problem_t *problem, const char *a_path, const char *b_path, int64_t random_n, char *error,
                 size_t error_size);

/*
 * The columns of A that `dist` gives to `rank` of `size` ranks, at a, column by column with distance ld (>= n).
 * 0, or -1 with text.
 */
int problem_columns(const problem_t *problem, epop_dist_t dist, int rank, int size, double *a, int64_t ld, char *error,
                    size_t error_size);

/* b from its file, n numbers. 0, or -1 with text. */
int problem_right_side(const problem_t *problem, double *b, char *error, size_t error_size);

/* The known solution: small integers, so that with random A the products and sums of A x are exact and b does not
 * depend on the number of ranks. */
double problem_known_x(int64_t i);

#endif
