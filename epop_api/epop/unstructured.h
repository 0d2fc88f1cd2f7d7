/* What is not dealt out evenly: described data in unequal blocks, sparse rows, and data whose owner a function or a
 * list names. The rules of <epop/describe.h> hold. */
#ifndef EPOP_UNSTRUCTURED_H
#define EPOP_UNSTRUCTURED_H

#include <epop/describe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Cuts and sparse rows ------------------------------------------------------ */

/* Returns the blocks of epop_dist_block as cuts for `ranks` ranks, which the caller frees with epop_dist_free. `starts`
 * is NULL if out of memory, or if an argument makes no sense. Local. */
EPOP_API epop_dist_t epop_dist_even_cuts(int64_t count, int ranks);

/* Lists cuts, with starts from malloc(), which the runtime replaces for another number of ranks. Later entries with
 * `*cuts` as their distribution move from the old to the new cuts. Joining and restarting ranks have the old ones when
 * this returns. `weights` is NULL for even cuts, or the name of a later entry by these cuts: an array of integers, as
 * in epop_redist_balance, or sparse rows, of which the elements count. In a balance it counts, too, what each rank has
 * to compute. Local. */
EPOP_API void epop_describe_cuts(epop_description_t *d, const char *name, epop_dist_t *cuts, const char *weights);

/* Lists sparse rows, as in epop_redist_csr, with row pointers of type `index`. `rows` is in blocks or by described
 * cuts; `arrays` is copied. Cannot be EPOP_SCRATCH. Local. */
EPOP_API void epop_describe_csr(epop_description_t *d, const char *name, void *starts, MPI_Datatype index,
                                epop_dist_t rows, const epop_row_array_t *arrays, int count, unsigned flags);

/* ---- Items ----------------------------------------------------------------------- */

/* Returns the rank, of `size`, that an item belongs to. Depends on its arguments alone; for constant items, what
 * `context` leads to is constant, too. */
typedef int (*epop_owner_t)(const void *item, int size, const void *context);

/* Lists `*count` items, such as particles. In a window and at a restart each goes to its owner among the new ranks, and
 * `*count` is set. Items stand in the order of the ranks they came from; a new block has no room for more. Cannot be
 * EPOP_SCRATCH. Local. */
EPOP_API void epop_describe_items(epop_description_t *d, const char *name, void *items, int64_t *count,
                                  MPI_Datatype type, epop_owner_t owner, const void *context, unsigned flags);

/* Sends items to their owners among the present ranks, outside windows; `items` is the address of their pointer.
 * Collective over epop_world(). All ranks return the same error, with a line on standard error. */
EPOP_API int epop_items_exchange(void *items, int64_t *count, MPI_Datatype type, epop_owner_t owner,
                                 const void *context);

/* ---- Partitions -------------------------------------------------------------------- */

/* Which rank owns each index, the same on every rank. */
typedef struct epop_partition {
    int64_t count;
    int *owner; /* `count` ranks, from malloc() */
    int ranks;  /* how many ranks it is for */
    /* Fills `owner` with ranks below `size`, as METIS or Scotch do, on rank 0 of the new ranks, or, if what is owned is
     * constant, on rank 0 of the old ones before the window. Returns 0, or non-zero if it cannot. NULL: consecutive
     * blocks. */
    int (*divide)(int64_t count, int size, int *owner, const void *context);
    const void *context;
} epop_partition_t;

/* Lists a partition, which is divided anew for another number of ranks. Joining and restarting ranks have `count` and
 * `ranks` when this returns, and `owner` when all data is there; `divide` and `context` are set in INIT. Local. */
EPOP_API void epop_describe_partition(epop_description_t *d, const char *name, epop_partition_t *partition);

/* Lists an array of which element i is on rank `owner[i]` of a partition that is described before. Local. */
EPOP_API void epop_describe_owned(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                  const epop_partition_t *partition, unsigned flags);

/* Makes `owner` for the present ranks, and frees an old one. Collective over epop_world(). All ranks return the same
 * error, with a line on standard error. */
EPOP_API int epop_partition_divide(epop_partition_t *partition);

/* Writes the indices of a rank, in order, to `indices` (unless NULL), and returns how many there are. Local. */
EPOP_API int64_t epop_partition_local(const epop_partition_t *partition, int rank, int64_t *indices);

#ifdef __cplusplus
}
#endif
#endif
