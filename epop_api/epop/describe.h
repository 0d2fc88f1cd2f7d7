/*
 * Described data: a describe block lists once what a program's data is; resizes, checkpoints, restarts and recovery
 * follow from that.
 *
 * - The block only lists: the same entries in the same order on every rank. It is called again for every window,
 *   checkpoint and restart, and shapes may change in between. docs/guide/data.md has examples.
 * - `name` has 1 to 200 bytes without `/` and control characters, is used once, and is copied.
 * - `local` is the address of the pointer, of any type, to this rank's part, which comes from malloc(); NULL where the
 *   rank owns nothing. The runtime replaces parts in windows, allocates them on joining and restarting ranks, and frees
 *   them on leaving ranks and at the end.
 * - On joining and restarting ranks values are there at once, so that later lines can use them; arrays come after the
 *   block has returned.
 * - Errors come back from the function that called the block, with a line that names the entry.
 *
 * Source: Charm++'s PUP (Kale et al.) packs, sizes and unpacks objects by one method.
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

/* Flags of entries. */
#define EPOP_CONSTANT 1u /* does not change while this phase iterates, and may move before the window */
#define EPOP_SCRATCH  2u /* allocated, all bytes 0, but neither moved nor saved */

/* Lists `bytes` of plain data, without pointers, that are the same on all ranks. Local. */
EPOP_API void epop_describe_values(epop_description_t *d, const char *name, void *values, size_t bytes);

/* Says what an entry before consists of, for those who read a checkpoint: of values the members of their structure, as
 * C declares them ("int64_t step; double dt, centre[3]"; numbers, and arrays of them), of sparse rows the names of
 * their arrays ("column, value"), which a restart has to find again. `members` is copied. Local. */
EPOP_API void epop_describe_members(epop_description_t *d, const char *name, const char *members);

/* Lists an array that is dealt out by `dist`. Cuts have to be described first. Local. */
EPOP_API void epop_describe_array(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                  epop_dist_t dist, unsigned flags);

/* Lists a matrix, not by cuts. A grid of 0 x 0 becomes the one nearest to square; a single 0 as many as fit. Local. */
EPOP_API void epop_describe_matrix(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                   const epop_dist2d_t *dist, unsigned flags);

/* Lists an array with ghosts, which are filled after it has moved. Local. */
EPOP_API void epop_describe_blocks(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                   const epop_blocks_t *blocks, unsigned flags);

/* Lists `count` elements of which every rank has a copy. Local. */
EPOP_API void epop_describe_replicated(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                       int64_t count, unsigned flags);

/* Says of the entry that was listed last, if it is EPOP_CONSTANT: its part is at `original`, which stays the caller's,
 * and is moved from there ahead of the window. Where that does not do, the runtime makes a copy, which it puts into
 * `local`. `local` is NULL when the block lists; after a window it is the new part, or NULL: the old one stays. Local.
 */
EPOP_API void epop_describe_original(epop_description_t *d, const void *original);

/* Moves all that `describe` lists, in an adapt block of your own or an executable; calls no other block. Collective
 * over `window->all`, between begin and commit; errors as of epop_redist. */
EPOP_API int epop_redist_described(const epop_window_t *window, void (*describe)(void *data, epop_description_t *d),
                                   void *data);

#ifdef __cplusplus
}
#endif
#endif
