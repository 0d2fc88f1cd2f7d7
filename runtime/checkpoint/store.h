/*
 * Where checkpoints are kept: a table of functions for each place, which are files and the memory of the nodes. What
 * is written is slabs in global order, so that any number of ranks can read it. And how all ranks come to one
 * result.
 */
#ifndef EPOP_CHECKPOINT_STORE_H
#define EPOP_CHECKPOINT_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"
#include "runtime/describe/describe.h"

/* Who is told that this process's part is written asynchronously: in a thread of the store, once in each process.
 * error: NULL if it is on disk. Neither MPI nor the store may be called there. */
struct store_listener {
    void (*written)(void *context, const struct error *error);
    void *context;
};

struct store_table {
    unsigned version; /* STORE_VERSION */
    const char *name;
    /* These are collective over comm, which has to live until the file is committed, started, abandoned or closed; 0,
     * or -1 with the same text on all ranks. A file that failed is gone: the handle must not be used again. */
    int (*create)(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                  struct error *error);
    int (*write)(void *file, const struct slab *slab, struct error *error);
    /* A slab that an earlier file of the same directory has, under the same name. 1 on all ranks: it is not there, and
     * has to be written. */
    int (*link)(void *file, const char *name, const char *earlier, struct error *error);
    /* Complete, on disk, and under its name: atomic. */
    int (*commit)(void *file, struct error *error);
    /* Without a trace. */
    void (*abandon)(void *file);
    /* Without linked files that are missing, of another program, or damaged where the head or the structure is. What is
     * damaged of the data is found when it is read. */
    int (*open)(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **file, struct error *error);
    struct slab_reader (*reader)(void *file);
    void (*close)(void *file);
    /*
     * Asynchronously, while the program goes on; NULL where the place cannot do that. create_async, then write and link
     * as above, where write makes a copy in memory; then start, collective as these, instead of commit. From there on
     * no MPI: a thread of each process writes its copy, and tells the listener. When the parts of all processes are
     * written, or one failed, each process calls settle, local, which waits for its thread and frees the file: with
     * `complete` the first rank of comm gives the file its name, else it removes it. On other ranks it gives 0.
     */
    int (*create_async)(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                        struct error *error);
    int (*start)(void *file, const struct store_listener *listener, struct error *error);
    int (*settle)(void *file, bool complete, struct error *error);
    /* The names of the files of the same directory that this one needs, each from malloc() as their array; *count of
     * them. 0, or -1 with text. Local. NULL: needs none. */
    int (*needs)(const char *path, char ***names, int *count, struct error *error);
};
#define STORE_VERSION 1u

/* Files. The module for HDF5 is loaded when it is needed, by rank 0 of comm: if it is missing, all ranks are told what
 * to install. */
extern const struct store_table store_file;

/* ---- One result for all ranks ------------------------------------------------------------------- */

/* What one of them cannot do, none has done, and all have the same words for it. Collective over comm. Waiting gives up
 * the processor. result: 0, or -1 with this rank's text. 0 if it is that on all ranks; else -1, with the text of the
 * first that failed. */
int outcome_of_all(MPI_Comm comm, int result, struct error *error);

/* What rank 0 had: its result and text; and its `bytes` at data, if that was 0. */
int outcome_of_first(MPI_Comm comm, int result, void *data, int64_t bytes, struct error *error);

#endif
