/*
 * Described data that is not dealt out evenly: unequal blocks (cuts), sparse rows, items that belong where a function
 * says (particles), and elements that belong where a list says (a mesh that METIS or Scotch has divided). The rules of
 * epop/describe.h hold: the block only lists, the parts come from malloc() and are the program's.
 */
#ifndef EPOP_UNSTRUCTURED_H
#define EPOP_UNSTRUCTURED_H

#include <epop/describe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Unequal blocks ----------------------------------------------------------- */

/* As many indices per rank as epop_dist_block gives, as cuts whose starts come from malloc(); freed by epop_dist_free.
 * starts NULL: out of memory, or count < 0, or ranks < 1. Local. */
EPOP_API epop_dist_t epop_dist_even_cuts(int64_t count, int ranks);

/*
 * A distribution by cuts (epop_dist_cuts, with starts from malloc()), which belongs to the program's data. For another
 * number of ranks the runtime makes new cuts, and frees the old ones. What is described after it with `*cuts` as its
 * distribution, the same starts, moves from the old cuts to the new ones. On joining and restarting ranks *cuts has the
 * old cuts when this returns, and the new ones when the data is there.
 *   weights   NULL: the new cuts are even. Else the name of an entry after it, dealt out by these cuts: an array of
 *             integers (MPI_INT, MPI_INT64_T or alike, none negative), one for each index; or sparse rows, of which
 *             the elements count. Each rank's sum then is as near to the others' as epop_redist_balance makes it
 */
EPOP_API void epop_describe_cuts(epop_description_t *d, const char *name, epop_dist_t *cuts, const char *weights);

/* ---- Sparse rows ---------------------------------------------------------------- */

/*
 * Rows of different lengths by row pointers (CSR), as epop_redist_csr has them: `starts` is the address of the pointer
 * to this rank's row pointers, integers of type `index`; `arrays` are what the rows consist of (column indices and
 * values), `count` of them, and are copied. `rows` deals out the rows: blocks, or cuts that an entry before it
 * describes. EPOP_CONSTANT may be given, EPOP_SCRATCH not.
 */
EPOP_API void epop_describe_csr(epop_description_t *d, const char *name, void *starts, MPI_Datatype index,
                                epop_dist_t rows, const epop_row_array_t *arrays, int count, unsigned flags);

/* ---- Items that belong where a function says -------------------------------------- */

/* The rank of `size` that `item` belongs to. It depends on its arguments alone, and is the same function, with the same
 * context, on every rank. */
typedef int (*epop_owner_t)(const void *item, int size, const void *context);

/*
 * `*count` items in `items` (the address of the pointer to them): particles, agents, tasks. In a window each one goes
 * to its owner among the new ranks, wherever it was before, and *count is set; a restart does the same. The items of a
 * rank then stand in the order of the ranks that they came from. A block with more room than items is right; a new one
 * has room for *count.
 */
EPOP_API void epop_describe_items(epop_description_t *d, const char *name, void *items, int64_t *count,
                                  MPI_Datatype type, epop_owner_t owner, const void *context, unsigned flags);

/*
 * The same while the program iterates: items that have moved on go to their owners among the present ranks. Collective
 * over epop_world(), outside windows. EPOP_OK, or the error of all ranks, with a line on stderr: EPOP_ERR_ARGUMENT,
 * EPOP_ERR_MEMORY, EPOP_ERR_MPI; then nothing has changed.
 */
EPOP_API int epop_items_exchange(void *items, int64_t *count, MPI_Datatype type, epop_owner_t owner,
                                 const void *context);

/* ---- Elements that belong where a list says ----------------------------------------- */

/* Who owns each of `count` indices. The list is the same on every rank. */
typedef struct epop_partition {
    int64_t count;
    int *owner; /* `count` ranks, from malloc(); the program's */
    int ranks;  /* of how many ranks */
    /* Fills owner[0 .. count - 1] with ranks below `size`: a call of METIS or Scotch. Called on rank 0 of the new
     * ranks, which has all that is described before the partition. 0, or anything else: it cannot. NULL: consecutive
     * blocks of equal length. */
    int (*divide)(int64_t count, int size, int *owner, const void *context);
    const void *context;
} epop_partition_t;

/*
 * A partition, which belongs to the program's data. For another number of ranks it is divided anew and told to all
 * ranks; the old list is freed. On joining and restarting ranks `count` and `ranks` are there when this returns, the
 * list when the data is; divide and context are the program's to set, in INIT.
 */
EPOP_API void epop_describe_partition(epop_description_t *d, const char *name, epop_partition_t *partition);

/* An array of which element i lives on rank owner[i] of a partition that an entry before it describes. Each rank has
 * its elements in the order of their indices. */
EPOP_API void epop_describe_owned(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                                  const epop_partition_t *partition, unsigned flags);

/* At the start: divides partition->count indices among the present ranks, into partition->owner (freed if it was there)
 * and partition->ranks. Collective over epop_world(). EPOP_OK, or the error of all, with a line on stderr, and nothing
 * has changed. */
EPOP_API int epop_partition_divide(epop_partition_t *partition);

/* The indices of `rank`, rising, into `indices` (NULL: they are only counted), and their number: which global index
 * each local one is. Local; it looks at the whole list. */
EPOP_API int64_t epop_partition_local(const epop_partition_t *partition, int rank, int64_t *indices);

#ifdef __cplusplus
}
#endif
#endif
