/* Blocks with ghosts: arrays of one to six dimensions on a grid of processes, with ghost layers, as in stencil
 * codes. */
#ifndef EPOP_BLOCKS_H
#define EPOP_BLOCKS_H

#include <epop/redist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most dimensions. */
#define EPOP_BLOCKS_DIMS 6

/*
 * The array, the same on every rank. Set it to zero first, then set what matters.
 *
 * Rank r is where MPI_Cart_create would put it without reordering. Ranks beyond the grid own nothing, nor do those
 * whose part is empty in some dimension. The local array of any other rank has `2 * ghosts[i]` elements more in
 * dimension i than its part, and is stored without gaps, the last dimension fastest. In a dimension that is not
 * periodic the ghosts at the two ends are the boundary: they belong to the block there, move with it and are saved with
 * it.
 */
typedef struct epop_blocks {
    int dims;                        /* 1 to EPOP_BLOCKS_DIMS */
    int64_t count[EPOP_BLOCKS_DIMS]; /* global indices without ghosts, dealt out as by epop_dist_block */
    int ghosts[EPOP_BLOCKS_DIMS];    /* layers on each side */
    int periodic[EPOP_BLOCKS_DIMS];  /* the two ends are neighbours */
    int grid[EPOP_BLOCKS_DIMS];      /* processes; 0: chosen for each number of ranks, as by MPI_Dims_create */
} epop_blocks_t;

/* Gives the grid for `size` ranks. Entries that are not 0 stay as they are; the others share what these leave of
 * `size`, rounded down. EPOP_ERR_ARGUMENT if there is no such grid. Local. */
EPOP_API int epop_blocks_grid(const epop_blocks_t *blocks, int size, int *grid);

/* Gives what a rank owns, without ghosts: the first global index and the count in each dimension, all 0 if nothing.
 * EPOP_ERR_ARGUMENT as above. Local. */
EPOP_API int epop_blocks_local(const epop_blocks_t *blocks, int rank, int size, int64_t *first, int64_t *count);

/* Returns how many elements the rank's array has, with ghosts, or -1 on error. Local. */
EPOP_API int64_t epop_blocks_elements(const epop_blocks_t *blocks, int rank, int size);

/* Moves the array, by the rules of epop_redist, and fills the ghosts. `before` and `after` may differ in the grid and
 * in the ghosts of periodic dimensions. EPOP_ERR_ARGUMENT also if there are more ghost layers than a neighbour's new
 * block has. Collective over `window->all`. */
EPOP_API int epop_redist_blocks(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                                MPI_Datatype type, void *local);

/* Gives its moves, as epop_redist_map does; ghosts of neighbours are left out. Local. */
EPOP_API int epop_redist_blocks_map(const epop_window_t *window, const epop_blocks_t *before,
                                    const epop_blocks_t *after, epop_redist_move_t **moves, int *count);

/* Refreshes the ghosts of `array` (not its address; NULL where the rank owns nothing) from all neighbours, diagonal
 * ones included; the boundary stays as it is. Collective over epop_world(), with the same blocks and type. All ranks
 * return EPOP_ERR_ARGUMENT or EPOP_ERR_STATE (there is no world); after EPOP_ERR_MEMORY or EPOP_ERR_MPI, which may be
 * of one rank alone, the program has to end. */
EPOP_API int epop_halo_exchange(const epop_blocks_t *blocks, MPI_Datatype type, void *array);

/* An exchange that is under way. */
typedef struct epop_halo epop_halo_t;

/* The same in two steps. In between the program may not read ghosts, write within `ghosts` layers of a neighbour,
 * receive with MPI_ANY_TAG on epop_world() (tag 32002 is the library's), or be resized. Exchanges of several arrays may
 * overlap if all ranks start them in the same order. Start makes `*halo`; finish waits and frees it. Collective over
 * epop_world(). */
EPOP_API int epop_halo_start(const epop_blocks_t *blocks, MPI_Datatype type, void *array, epop_halo_t **halo);
EPOP_API int epop_halo_finish(epop_halo_t **halo);

#ifdef __cplusplus
}
#endif
#endif
