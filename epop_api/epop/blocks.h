/*
 * Blocks: an array of one to six dimensions on a grid of processes, with ghost layers around each process's part, as
 * stencil codes have them; its redistribution in a window, and the exchange of the ghosts in the loop.
 */
#ifndef EPOP_BLOCKS_H
#define EPOP_BLOCKS_H

#include <epop/redist.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPOP_BLOCKS_DIMS 6

/*
 * An array and how it is dealt out. Zero-initialize it and set what matters; all is the same on every rank. Dimension i
 * is dealt out to grid[i] processes as epop_dist_block does. Rank r stands where MPI_Cart_create without reordering
 * puts it (the last dimension is the fastest); ranks beyond the grid own nothing, nor do those whose part has no index
 * in some dimension.
 *
 * The array of a rank that owns something has count[i] + 2 * ghosts[i] elements in dimension i, where count[i] is its
 * own part, and lies without gaps, the last dimension fastest. The ghosts of neighbours, diagonal ones too, are copies
 * of what these own. In a dimension that is not periodic the ghosts at the two ends of the domain have no neighbour:
 * there they are the boundary, and belong to the block at that end. They move with it and are saved with it, so that a
 * program sets the values there once.
 */
typedef struct epop_blocks {
    int dims;                        /* 1 .. EPOP_BLOCKS_DIMS */
    int64_t count[EPOP_BLOCKS_DIMS]; /* global indices of each dimension, without ghosts */
    int ghosts[EPOP_BLOCKS_DIMS];    /* layers on each side; at most what the smallest block of a neighbour has */
    int periodic[EPOP_BLOCKS_DIMS];  /* the ends are neighbours */
    int grid[EPOP_BLOCKS_DIMS];      /* processes; 0: chosen for each number of ranks, as MPI_Dims_create does */
} epop_blocks_t;

/* The grid for `size` ranks: `dims` numbers. Entries that are not 0 stay; the others are as near to each other as their
 * product allows, which is `size` divided by those that are given, rounded down. EPOP_ERR_ARGUMENT where there is no
 * such grid. Local, pure. */
EPOP_API int epop_blocks_grid(const epop_blocks_t *blocks, int size, int *grid);
/* What `rank` of `size` ranks owns, without ghosts: `dims` first global indices, and counts. All 0 where it owns
 * nothing, and for rank -1. EPOP_ERR_ARGUMENT as above, and then all are 0. Local, pure. */
EPOP_API int epop_blocks_local(const epop_blocks_t *blocks, int rank, int size, int64_t *first, int64_t *count);
/* Elements of its array, with ghosts; 0 where it owns nothing. -1 where epop_blocks_local is an error, or there is no
 * such number. Local, pure. */
EPOP_API int64_t epop_blocks_elements(const epop_blocks_t *blocks, int rank, int size);

/*
 * Moves the array in a window, as epop_redist does: collective over window->all, `local` the address of the pointer to
 * the rank's array (of any pointer type), the same errors. `after` may differ from `before` in its grid, and in the
 * ghosts of periodic dimensions. Afterwards the ghosts are those of the new neighbours. EPOP_ERR_ARGUMENT also where
 * ghosts have more layers than a neighbour's block after the move.
 */
EPOP_API int epop_redist_blocks(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                                MPI_Datatype type, void *local);
/* Its moves, boundary included, ghosts of neighbours not; as epop_redist_map. Local. */
EPOP_API int epop_redist_blocks_map(const epop_window_t *window, const epop_blocks_t *before,
                                    const epop_blocks_t *after, epop_redist_move_t **moves, int *count);

/*
 * Refreshes the ghosts of `array` (not its address; NULL where the rank owns nothing) from the neighbours in
 * epop_world(): one message to and from each neighbour, diagonals included. Collective over epop_world(), with the same
 * blocks and type. The boundary is left alone. EPOP_ERR_ARGUMENT, on every rank, as above, with a line on stderr from
 * rank 0; EPOP_ERR_STATE where there is no world. EPOP_ERR_MEMORY and EPOP_ERR_MPI are this rank's alone, so that the
 * program has to end.
 */
EPOP_API int epop_halo_exchange(const epop_blocks_t *blocks, MPI_Datatype type, void *array);

/*
 * The same in two steps, so that inner elements are computed while the ghosts are on their way. Between them the
 * program may read all but the ghosts, and write only what is not within `ghosts` layers of a neighbour; it may start
 * exchanges of other arrays, the same ones in the same order on all ranks, but not receive with MPI_ANY_TAG on
 * epop_world(). *halo is made by start, NULL when that fails; finish waits, and frees it (NULL: nothing). Both are
 * collective over epop_world(); no resize comes in between.
 */
typedef struct epop_halo epop_halo_t;
EPOP_API int epop_halo_start(const epop_blocks_t *blocks, MPI_Datatype type, void *array, epop_halo_t **halo);
EPOP_API int epop_halo_finish(epop_halo_t **halo);

#ifdef __cplusplus
}
#endif
#endif
