/*
 * Redistribution: moves distributed data between the old and the new ranks of a window, so that an
 * adapt block is a few lines. Every rank takes part, nothing goes through a root, and only elements
 * whose owner changes travel.
 */
#ifndef EPOP_REDIST_H
#define EPOP_REDIST_H

#include <stdio.h>

#include <epop/elastic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- One dimension: how `count` indices are dealt out to `size` ranks --- */

typedef enum epop_dist_kind { EPOP_DIST_BLOCK = 0, EPOP_DIST_CYCLIC = 1, EPOP_DIST_BLOCK_CYCLIC = 2 } epop_dist_kind;

typedef struct epop_dist {
    epop_dist_kind kind;
    int64_t count; /* global indices */
    int64_t block; /* EPOP_DIST_BLOCK_CYCLIC: indices per block, >= 1 */
} epop_dist_t;

/* BLOCK gives the first count % size ranks one index more. Values, nothing to free. */
EPOP_API epop_dist_t epop_dist_block(int64_t count);
EPOP_API epop_dist_t epop_dist_cyclic(int64_t count);
EPOP_API epop_dist_t epop_dist_block_cyclic(int64_t count, int64_t block);

/* Indices that `rank` of `size` ranks owns; rank -1 owns none. Local, pure, O(1). */
EPOP_API int64_t epop_dist_local_count(epop_dist_t dist, int rank, int size);
/* The global index of local index `local` of `rank`. Local, pure, O(1). */
EPOP_API int64_t epop_dist_global(epop_dist_t dist, int rank, int size, int64_t local);
/* Who owns global index `global`, and (unless NULL) as which local index. Local, pure, O(1). */
EPOP_API int epop_dist_owner(epop_dist_t dist, int size, int64_t global, int64_t *local);

/* ---- Two dimensions: a matrix on a grid of processes -------------------- */

/* Rank r stands at grid row r / grid_cols, column r % grid_cols. The local block is stored by rows, or
 * by columns (column_major), without gaps. grid_rows * grid_cols <= size; further ranks own nothing. */
typedef struct epop_dist2d {
    epop_dist_t rows, cols;
    int grid_rows, grid_cols;
    int column_major;
} epop_dist2d_t;

/* The grid_rows x grid_cols of `size` that is nearest to square, as MPI_Dims_create. Local, pure. */
EPOP_API void epop_grid_near_square(int size, int *grid_rows, int *grid_cols);
/* Rows and columns of the local block of `rank` (0 x 0 for rank -1). Local, pure. */
EPOP_API void epop_dist2d_local(const epop_dist2d_t *dist, int rank, int64_t *rows, int64_t *cols);

/* ---- Moving data in a window -------------------------------------------- */

/*
 * All of these are collective over window->all, between epop_adapt_begin and epop_adapt_commit, with the
 * same arguments on every rank. `*local` points to the rank's old block, allocated with malloc() (NULL where
 * it owns nothing, and on joining ranks); on success it is freed and replaced by the new block (NULL where the
 * rank owns nothing, and on leaving ranks). On failure *local is unchanged, and every rank returns the same error,
 * with one line on stderr that says why. Elements lie one extent of the type apart. Counts may exceed 2^31.
 * Returns EPOP_OK, EPOP_ERR_ARGUMENT, EPOP_ERR_MEMORY or EPOP_ERR_MPI.
 */

/* A one-dimensional array, dealt out by `dist` before and after. */
EPOP_API int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void **local);

/* A matrix; the grid usually differs before and after. */
EPOP_API int epop_redist2d(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                           MPI_Datatype type, void **local);

/*
 * Rows of different lengths (CSR): row i is owned as by `rows`, and has lengths[local i] elements.
 * *lengths (int64_t, one per local row) and *values (the rows one after the other) are both replaced.
 */
EPOP_API int epop_redist_rows(const epop_window_t *window, epop_dist_t rows, int64_t **lengths, MPI_Datatype type,
                              void **values);

/* Data that every rank holds a copy of: joining ranks get it from the staying ones, into `data`, which
 * has room for `count` elements on every rank. Leaving ranks only take part; where nobody stays, they are the source.
 */
EPOP_API int epop_redist_replicated(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type);

/* ---- The map: who sends what to whom ------------------------------------- */

typedef struct epop_redist_move {
    int from, to;  /* ranks in window->all */
    int64_t count; /* elements; from == to: they stay where they are */
} epop_redist_move_t;

/*
 * The moves of a redistribution, without doing it, sorted by (from, to), in *moves, freed by the caller with
 * free(), and their number in *count. Local: every rank computes the same. `after` may equal `before`.
 */
EPOP_API int epop_redist_map(const epop_window_t *window, epop_dist_t dist, epop_redist_move_t **moves, int *count);
EPOP_API int epop_redist2d_map(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                               epop_redist_move_t **moves, int *count);
/* Prints the moves as tab-separated lines (from, to, elements) with a heading. Local. */
EPOP_API void epop_redist_map_print(FILE *stream, const epop_redist_move_t *moves, int count);

#ifdef __cplusplus
}
#endif
#endif
