/*
 * What cuts, sparse rows, items, partitions and what they own share. Layouts that are data themselves (cuts,
 * partitions) move first, and keep the old one beside the new one until the description goes, for the entries behind
 * them.
 */
#ifndef EPOP_DESCRIBE_UNSTRUCTURED_H
#define EPOP_DESCRIBE_UNSTRUCTURED_H

#include "epop/unstructured.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/plan.h"

/* ---- Shares of all kinds ---- */

/* Do all ranks go on? `error` is what is the matter here (ERROR_NONE: nothing), and afterwards what is with the first
 * rank that cannot. EPOP_OK, or the same result on all. Collective over window->all. */
int describe_settle(const epop_window_t *window, struct error *error);
/* Then, where nobody else says it: a line on stderr, from rank 0 of the window. Collective over window->all. */
void describe_say(const epop_window_t *window, const struct error *error);
/* Both. */
int describe_settle_and_say(const epop_window_t *window, struct error *error);

/* Of `mine` elements per rank, in the order of the ranks: where those of this rank start, and all of them. 0, or -1.
 * Collective over window->all. */
int describe_place(const epop_window_t *window, int64_t mine, int64_t *first, int64_t *total, struct error *error);

/* The rank in window->all of each new rank. From malloc(); NULL: out of memory. Local. */
int *describe_new_ranks(const epop_window_t *window);

/* An array's part of a slab of one dimension, of `extent` elements, read into new memory (*data). 0, or -1 on all
 * ranks. Collective over window->all. */
int describe_read(const epop_window_t *window, const struct slab_reader *reader, struct slab *slab, int64_t extent,
                  struct error *error);

/* ---- Sparse rows as weights ---- */

/* Are its rows dealt out by these starts? Local. */
bool describe_csr_is_by(const struct described *entry, const int64_t *starts);
/* How long the rows of this rank are. From malloc(), of `rows` numbers; NULL: out of memory. Local. */
int64_t *describe_csr_lengths(const struct described *entry, int64_t rows);
/* From a checkpoint: rows `first` to `first + rows - 1`, the parts of the ranks one after the other: *starts has rows +
 * 1 entries, counted over all ranks. 0, or -1 on all ranks. Collective over window->all. */
int describe_csr_read(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      int64_t first, int64_t rows, int64_t all, int64_t **starts, struct error *error);

/* ---- Who owns what ---- */

/* By a list, or by blocks of epop_dist_block. */
struct owners {
    const int *list; /* NULL: blocks */
    int64_t count;
    int ranks;
};

/* The partition that an entry of this list describes, before and after it moved. False: none. Local. */
bool describe_partition_of(const epop_description_t *d, const epop_partition_t *partition, struct owners *before,
                           struct owners *after);

#endif
