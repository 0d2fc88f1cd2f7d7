/*
 * Where checkpoints are kept: a table of functions for each place. The file (file.c, with the module lib/epop/hdf5.so)
 * and the memory of the nodes (memory.c) are behind it; what is written is slabs in global order, so that any number of
 * ranks can read it.
 */
#ifndef EPOP_CHECKPOINT_STORE_H
#define EPOP_CHECKPOINT_STORE_H

#include <mpi.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"
#include "runtime/describe/describe.h"

/* Who is told that a part is written: in a thread of the store, once in each process. error: NULL if it is on disk.
 * Neither MPI nor the store may be called there. */
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
    /* A slab that an earlier file of the same directory has, under the same name. */
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
     * Behind the program's back; NULL where the place has nothing of this kind. create_behind, then write and link as
     * above, where write makes a copy in memory; then start, collective as these, in the place of commit. From there on
     * no MPI: a thread of each process writes its copy, and tells the listener. When all processes' are written, or one
     * failed, each of them calls settle, local, which waits for its thread and frees the file: with `complete` the
     * first rank of comm gives it its name, else it removes it. Others have 0.
     */
    int (*create_behind)(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                         struct error *error);
    int (*start)(void *file, const struct store_listener *listener, struct error *error);
    int (*settle)(void *file, bool complete, struct error *error);
    /* The names of the files of the same directory that this one needs, each from malloc() as their array; *count of
     * them. 0, or -1 with text. Local. NULL: needs none. */
    int (*needs)(const char *path, char ***names, int *count, struct error *error);
};
#define STORE_VERSION 1u

/* The file. The module is loaded when it is needed, by rank 0 of comm: if it is missing, all ranks are told what to
 * install. */
extern const struct store_table store_file;

#endif
