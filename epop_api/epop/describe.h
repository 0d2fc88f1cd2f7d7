/*
 * Described data: a program says once what its data is, in a block `describe`; resize, checkpoint, restart and recovery
 * follow from that.
 *
 *     static void describe(void *data, epop_description_t *d)
 *     {
 *         heat_t *h = data;
 *         epop_describe_values(d, "parameters", &h->p, sizeof h->p);
 *         epop_describe_array(d, "u", &h->u, MPI_DOUBLE, epop_dist_block(h->p.n), 0);
 *         epop_describe_array(d, "k", &h->k, MPI_DOUBLE, epop_dist_block(h->p.n), EPOP_CONSTANT);
 *     }
 *
 * The block only lists. It is called wherever the runtime has to know: before a window, at a checkpoint, at a restart,
 * by the debug driver. On a joining or restarting process values are filled in while it runs, so that a later line may
 * use what an earlier one filled in (n above); arrays are allocated and filled behind it. Shapes may change between
 * iterations. What is listed must be the same on every rank, in the same order; names are unique. An error (a name
 * twice, a missing pointer) is kept in the description, and comes back from what called the block, with a line that
 * names the entry.
 *
 * A layout is a function of the number of ranks: the runtime asks it for the old and for the new one. `local` is the
 * address of the pointer to this rank's part (`&h->u`), of any pointer type. Parts come from malloc() and are the
 * program's; the runtime replaces them in windows, allocates them on joining and restarting processes, and frees them
 * on those that leave and at the program's end. NULL is right where a rank owns nothing.
 *
 * Source: the idea of one method for packing, sizing and unpacking an object is Charm++'s PUP (Kale et al.); here it is
 * made for distributed arrays.
 */
#ifndef EPOP_DESCRIBE_H
#define EPOP_DESCRIBE_H

#include <stddef.h>

#include <epop/blocks.h>
#include <epop/elastic.h>
#include <epop/redist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of arrays. */
#define EPOP_CONSTANT 1u /* does not change while this phase iterates: moves ahead of the window where that can be */
#define EPOP_SCRATCH  2u /* allocated where it is needed, all bytes 0; neither moved nor saved */

/* `bytes` of plain data (no pointers) that are the same on all ranks. */
EPOP_API void epop_describe_values(epop_description_t *d, const char *name, void *values, size_t bytes);

/* A one-dimensional array, dealt out by `dist`: blocks, cyclic, block-cyclic; or cuts that an entry before it describes
 * (epop_describe_cuts). */
EPOP_API void epop_describe_array(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                  epop_dist_t dist, unsigned flags);

/* A matrix on a grid. grid_rows and grid_cols 0: the grid that is nearest to square for the number of ranks
 * (epop_grid_near_square). One of them 0: as many as fit, so 1 and 0 deal out columns alone. */
EPOP_API void epop_describe_matrix(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                   const epop_dist2d_t *dist, unsigned flags);

/* An array of one to six dimensions with ghost layers (epop/blocks.h). What a rank owns moves, the boundary included;
 * then the ghosts are those of the new neighbours. As EPOP_SCRATCH it has room for the ghosts, too. */
EPOP_API void epop_describe_blocks(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                   const epop_blocks_t *blocks, unsigned flags);

/* `count` elements that every rank has a copy of; joining ranks get it from rank 0. */
EPOP_API void epop_describe_replicated(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                       int64_t count, unsigned flags);

/* ---- In a window ------------------------------------------------------------ */

/*
 * What epop_adapt_described (epop/program.h) does between begin and commit, for an adapt block of one's own or an
 * executable: moves all that `describe` lists of `data`. Collective over window->all. Leaving ranks have NULL pointers
 * behind it. Errors as epop_redist.
 */
EPOP_API int epop_redist_described(const epop_window_t *window, void (*describe)(void *data, epop_description_t *d),
                                   void *data);

#ifdef __cplusplus
}
#endif
#endif
