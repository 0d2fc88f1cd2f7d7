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

typedef enum epop_dist_kind {
    EPOP_DIST_BLOCK = 0,
    EPOP_DIST_CYCLIC = 1,
    EPOP_DIST_BLOCK_CYCLIC = 2,
    EPOP_DIST_CUTS = 3 /* blocks of any lengths, for one number of ranks */
} epop_dist_kind;

typedef struct epop_dist {
    epop_dist_kind kind;
    int ranks;     /* EPOP_DIST_CUTS: of how many ranks */
    int64_t count; /* global indices */
    union {
        int64_t block;   /* EPOP_DIST_BLOCK_CYCLIC: indices per block, >= 1 */
        int64_t *starts; /* EPOP_DIST_CUTS: rank r owns starts[r] .. starts[r + 1] - 1; ranks + 1 of them, 0 to count */
    };
} epop_dist_t;

/* BLOCK gives the first count % size ranks one index more. Values, nothing to free. */
EPOP_API epop_dist_t epop_dist_block(int64_t count);
EPOP_API epop_dist_t epop_dist_cyclic(int64_t count);
EPOP_API epop_dist_t epop_dist_block_cyclic(int64_t count, int64_t block);

/* Unequal blocks. `starts` is as above, the same on every rank, stays the caller's, and is used as long as the value
 * is. */
EPOP_API epop_dist_t epop_dist_cuts(int64_t *starts, int ranks);
/* Frees the starts of a distribution by cuts, with free(), and makes *dist one of no indices. Nothing to free in
 * others. For those that epop_redist_balance and epop_redist_counts give, or with starts from malloc(). Local. */
EPOP_API void epop_dist_free(epop_dist_t *dist);

/* By cuts, `size` must be the number of ranks that they are for. */

/* Indices that `rank` of `size` ranks owns; rank -1 owns none. Local, pure, O(1). */
EPOP_API int64_t epop_dist_local_count(epop_dist_t dist, int rank, int size);
/* The global index of local index `local` of `rank`. Local, pure, O(1). */
EPOP_API int64_t epop_dist_global(epop_dist_t dist, int rank, int size, int64_t local);
/* Who owns global index `global`, and (unless NULL) as which local index. Local, pure, O(1); by cuts O(log size). */
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
 * All of these are collective over window->all, between epop_adapt_begin and epop_adapt_commit (or
 * MPI_Comm_adapt_begin and MPI_Comm_adapt_commit, with the window of epop_mpi_window), with the same arguments on every
 * rank. `local` is the address of a pointer, of any type, to the rank's old block, allocated with malloc() (NULL where
 * it owns nothing, and on joining ranks); on success that is freed, and the pointer is to the new block (NULL where the
 * rank owns nothing, and on leaving ranks). On failure it is unchanged, and every rank returns the same error, with one
 * line on stderr that says why. Elements lie one extent of the type apart. Counts may exceed 2^31. Returns EPOP_OK,
 * EPOP_ERR_ARGUMENT, EPOP_ERR_MEMORY or EPOP_ERR_MPI.
 */

/* A one-dimensional array, dealt out by `dist` before and after. */
EPOP_API int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void *local);

/* A one-dimensional array, dealt out in one way before and in another after: cuts, which are for one number of ranks.
 */
EPOP_API int epop_redist_between(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                                 void *local);

/* A matrix; the grid usually differs before and after. */
EPOP_API int epop_redist2d(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                           MPI_Datatype type, void *local);

/* What rows of different lengths consist of: elements of `type` in *local, one row after the other. */
typedef struct epop_row_array {
    MPI_Datatype type;
    void *local; /* the address of the pointer to them */
} epop_row_array_t;

/*
 * Rows of different lengths, with `count` arrays that have the same rows (a sparse matrix: column indices and values).
 * `before` and `after` deal out the rows; *lengths has a length per local row. `type` says what the lengths are:
 * MPI_INT, MPI_INT64_T, or another integer of 4 or 8 bytes with a sign. *lengths and all arrays are replaced, or on
 * failure none. Besides the blocks it takes 8 bytes per old and new row.
 */
EPOP_API int epop_redist_rows(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                              void *lengths, const epop_row_array_t *arrays, int count);

/*
 * The same by row pointers, as CSR has them: row i is the elements from (*starts)[i] up to (*starts)[i + 1] of each
 * array, so that *starts has an entry more than there are local rows; the first is 0. NULL will do where a rank owns no
 * rows. Afterwards each rank of the new world has rows + 1 entries, also where that is one; leaving ranks have NULL.
 * EPOP_ERR_ARGUMENT also where a rank would get more elements than `type` can count.
 */
EPOP_API int epop_redist_csr(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                             void *starts, const epop_row_array_t *arrays, int count);

/* Data that every rank holds a copy of: joining ranks get it from the staying ones, into `data`, which
 * has room for `count` elements on every rank. Leaving ranks only take part; where nobody stays, they are the source.
 */
EPOP_API int epop_redist_replicated(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type);

/* ---- Unequal blocks: what is to be owned by whom -------------------------- */

/*
 * Cuts of consecutive indices for the new world, so that each rank's part of the sum of the weights is as its `share`
 * is of all shares, but for at most the largest weight: rows balanced by nonzeros, or more of them for a faster node.
 *   before   how the indices are dealt out now: blocks or cuts. Joining ranks get it here, whatever they had.
 *   type     of the weights, as of the lengths of epop_redist_rows
 *   weights  one for each index of this rank, none negative; NULL where it has none. If they are NULL on all ranks, or
 *            all 0, every index weighs 1. They are only read
 *   share    of this rank in the new world: finite, >= 0, and not 0 on all; 1 on every rank: all alike. Of no meaning
 *            on leaving ranks
 *   after    the new cuts, on every rank
 *
 * Nothing moves; pass both to the functions above. Collective over window->all; results and errors as theirs. *after,
 * and *before of a joining rank, are freed with epop_dist_free. On failure both are unchanged.
 */
EPOP_API int epop_redist_balance(const epop_window_t *window, epop_dist_t *before, MPI_Datatype type,
                                 const void *weights, double share, epop_dist_t *after);

/*
 * Cuts from each rank's own counts: `had` indices before (of no meaning on joining ranks), and `shall` have after (of
 * none on leaving ones), in the order of the ranks. *before and *after are set on every rank, and freed with
 * epop_dist_free. EPOP_ERR_ARGUMENT also if the sums of the two differ. On failure both are unchanged. Collective over
 * window->all.
 */
EPOP_API int epop_redist_counts(const epop_window_t *window, int64_t had, int64_t shall, epop_dist_t *before,
                                epop_dist_t *after);

/* ---- The map: who sends what to whom ------------------------------------- */

typedef struct epop_redist_move {
    int from, to;  /* ranks in window->all */
    int64_t count; /* elements; from == to: they stay where they are */
} epop_redist_move_t;

/*
 * The moves of a redistribution, without doing it, sorted by (from, to), in *moves, freed by the caller with
 * free(), and their number in *count. Local: every rank computes the same. `after` may equal `before`.
 */
EPOP_API int epop_redist_map(const epop_window_t *window, epop_dist_t before, epop_dist_t after,
                             epop_redist_move_t **moves, int *count);
EPOP_API int epop_redist2d_map(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                               epop_redist_move_t **moves, int *count);
/* Prints the moves as tab-separated lines (from, to, elements) with a heading. Local. */
EPOP_API void epop_redist_map_print(FILE *stream, const epop_redist_move_t *moves, int count);

#ifdef __cplusplus
}
#endif
#endif
