/*
 * Making a checkpoint of a program's data, and filling the data from one. Both are collective over comm, of which
 * they use a copy of their own: the program's messages do not meet theirs.
 */
#ifndef EPOP_CHECKPOINT_CHECKPOINT_H
#define EPOP_CHECKPOINT_CHECKPOINT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/store.h"

/* The program's data, the block that lists it, and the one that packs it before (NULL: none). */
struct checkpoint_data {
    void (*describe)(void *data, epop_description_t *d);
    void *data;
    int (*pack)(void *data);
};

/* What was written. */
struct checkpoint_taken {
    int64_t bytes; /* of this rank */
    bool linked;   /* something is in an earlier file */
};

/* For a checkpoint that is written asynchronously: who is told, and the file, on which the store's settle is to be
 * called then. */
struct checkpoint_async {
    struct store_listener listener;
    void *file;
};

/*
 * Saves all of it at path, and sets head->values. base: which earlier one has the constant arrays as they are, as the
 * store's link takes it, or "". *taken: what this rank has written. One slab at a time is in memory besides the data;
 * with async, which may be NULL, a copy of all that is written, until it is. 0, or -1 with the same text on all ranks;
 * then nothing is left of it.
 */
int checkpoint_take(const struct store_table *store, MPI_Comm comm, const char *path, const char *base,
                    const struct checkpoint_data *data, struct checkpoint_async *async, struct checkpoint_head *head,
                    struct checkpoint_taken *taken, struct error *error);

/*
 * The opposite: values first, then the arrays, which are allocated. `here` says what runs. 0, or -1 with the same text
 * on all ranks; then the data is in no defined state.
 */
int checkpoint_load(const struct store_table *store, MPI_Comm comm, const char *path,
                    const struct checkpoint_data *data, const struct checkpoint_head *here, struct error *error);

#endif
