/*
 * Redistribution: moves distributed data between the old and the new ranks of a window.
 *
 * Elements go straight from their old owner to the new one. docs/reference/data.md has examples.
 */
#ifndef EPOP_REDIST_H
#define EPOP_REDIST_H

#include <stdio.h>

#include <epop/elastic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Distributions ------------------------------------------------------- */

/* How indices are dealt out to ranks. */
typedef enum epop_dist_kind {
    EPOP_DIST_BLOCK = 0,
    EPOP_DIST_CYCLIC = 1,
    EPOP_DIST_BLOCK_CYCLIC = 2,
    EPOP_DIST_CUTS = 3 /* blocks of any lengths */
} epop_dist_kind;

/* A distribution: for any number of ranks, or, by cuts, for one. */
typedef struct epop_dist {
    epop_dist_kind kind;
    int ranks;     /* by cuts: for how many ranks */
    int64_t count; /* global indices */
    union {
        int64_t block;   /* block-cyclic: indices per block, at least 1 */
        int64_t *starts; /* by cuts: rank r owns starts[r] to starts[r + 1] - 1 */
    };
} epop_dist_t;

/* Return a distribution of `count` indices. In blocks the first `count % size` ranks have one more. There is nothing to
 * free. Local. */
EPOP_API epop_dist_t epop_dist_block(int64_t count);
EPOP_API epop_dist_t epop_dist_cyclic(int64_t count);
EPOP_API epop_dist_t epop_dist_block_cyclic(int64_t count, int64_t block);

/* Returns a distribution by cuts. `starts` has `ranks + 1` entries that rise from 0 to the count, the same on every
 * rank. It is not copied. Local. */
EPOP_API epop_dist_t epop_dist_cuts(int64_t *starts, int ranks);

/* Frees the starts of a distribution by cuts, if it is one, and makes it one of no indices. Local. */
EPOP_API void epop_dist_free(epop_dist_t *dist);

/* Returns how many indices `rank` of `size` ranks owns; 0 for rank -1. Local. */
EPOP_API int64_t epop_dist_local_count(epop_dist_t dist, int rank, int size);

/* Returns the global index of a rank's local index. Local. */
EPOP_API int64_t epop_dist_global(epop_dist_t dist, int rank, int size, int64_t local);

/* Returns the rank that owns a global index, and stores the index there in `*local` (unless NULL). Local. */
EPOP_API int epop_dist_owner(epop_dist_t dist, int size, int64_t global, int64_t *local);

/* A matrix on a grid, in which rank r is in row `r / grid_cols` and column `r % grid_cols`; ranks beyond the grid own
 * nothing. */
typedef struct epop_dist2d {
    epop_dist_t rows, cols;
    int grid_rows, grid_cols;
    int column_major; /* local blocks are stored by columns; 0: by rows */
} epop_dist2d_t;

/* Gives the grid of `size` ranks that is nearest to square. Local. */
EPOP_API void epop_grid_near_square(int size, int *grid_rows, int *grid_cols);

/* Gives the size of a rank's local block; 0 x 0 for rank -1. Local. */
EPOP_API void epop_dist2d_local(const epop_dist2d_t *dist, int rank, int64_t *rows, int64_t *cols);

/* ---- Moving data --------------------------------------------------------- */

/*
 * The functions that move data are collective over `window->all`, between begin and commit, with the same arguments on
 * every rank.
 *
 * - `local` is the address of a pointer, of any type, to the rank's block, which comes from malloc(); NULL where the
 *   rank owns nothing. On success the block is replaced by the new one: the old one has been freed, and the caller
 *   frees the new one with free().
 * - Elements of `type` lie one extent apart. Counts may exceed 2^31.
 * - All ranks return the same: EPOP_OK, or EPOP_ERR_ARGUMENT, EPOP_ERR_MEMORY or EPOP_ERR_MPI with a line on standard
 *   error.
 */

/* Moves an array that is dealt out by `dist` before and after. Collective. */
EPOP_API int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void *local);

/* Moves an array that is dealt out by `before`, and then by `after`. Collective. */
EPOP_API int epop_redist_between(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                                 void *local);

/* Moves a matrix. Only its numbers of rows and columns must stay the same. Collective. */
EPOP_API int epop_redist2d(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                           MPI_Datatype type, void *local);

/* An array that holds rows of different lengths, one after the other. */
typedef struct epop_row_array {
    MPI_Datatype type;
    void *local; /* the address of the pointer to the elements */
} epop_row_array_t;

/* Move rows of different lengths, which `count` arrays have in common. `before` and `after` deal out the rows.
 * The first function has the length of each local row in `*lengths`; the second has row pointers, as in CSR, in
 * `*starts`: one entry more, from 0 to the number of elements, also on new ranks without rows. `type` is that of
 * lengths and starts: MPI_INT, MPI_INT64_T, or an integer like these. Everything is replaced, or, on failure,
 * nothing. Collective. */
EPOP_API int epop_redist_rows(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                              void *lengths, const epop_row_array_t *arrays, int count);
EPOP_API int epop_redist_csr(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                             void *starts, const epop_row_array_t *arrays, int count);

/* Gives joining ranks a copy of what all others have: `count` elements at `data`, where every rank has room for them.
 * Collective. */
EPOP_API int epop_redist_replicated(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type);

/* ---- Unequal blocks ------------------------------------------------------- */

/*
 * Makes cuts for the new world, so that the weight of each rank's indices is in proportion to its share; a cut is off
 * by at most half of the largest weight. Nothing moves.
 *
 * - `*before` is in blocks or by cuts; joining ranks get it here.
 * - `weights`: an integer of `type` (as in epop_redist_rows), not negative, for each index of this rank. NULL on all
 *   ranks: each index weighs 1.
 * - `share` is this rank's, as compared with the others'; 1 on all ranks for equal shares.
 *
 * The caller frees `*after`, and `*before` of a joining rank, with epop_dist_free. Collective; errors as above.
 */
EPOP_API int epop_redist_balance(const epop_window_t *window, epop_dist_t *before, MPI_Datatype type,
                                 const void *weights, double share, epop_dist_t *after);

/* Makes both distributions from the numbers of indices that this rank `had` and `shall` have. The caller frees them
 * with epop_dist_free. EPOP_ERR_ARGUMENT also if the sums differ. Collective; errors as above. */
EPOP_API int epop_redist_counts(const epop_window_t *window, int64_t had, int64_t shall, epop_dist_t *before,
                                epop_dist_t *after);

/* ---- The map -------------------------------------------------------------- */

/* How many elements go from one rank of `window->all` to another, or stay there. */
typedef struct epop_redist_move {
    int from, to;
    int64_t count;
} epop_redist_move_t;

/* Give the moves that a redistribution would make, in order; the same on every rank. The caller frees `*moves` with
 * free(). EPOP_ERR_ARGUMENT or EPOP_ERR_MEMORY. Local. */
EPOP_API int epop_redist_map(const epop_window_t *window, epop_dist_t before, epop_dist_t after,
                             epop_redist_move_t **moves, int *count);
EPOP_API int epop_redist2d_map(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                               epop_redist_move_t **moves, int *count);

/* Prints the moves as lines separated by tabs, with a heading. Local. */
EPOP_API void epop_redist_map_print(FILE *stream, const epop_redist_move_t *moves, int count);

#ifdef __cplusplus
}
#endif
#endif
