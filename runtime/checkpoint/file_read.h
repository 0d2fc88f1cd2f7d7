/* The store of files: reading a checkpoint file. */
#ifndef EPOP_CHECKPOINT_FILE_READ_H
#define EPOP_CHECKPOINT_FILE_READ_H

#include <mpi.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"
#include "runtime/checkpoint/store.h"

/* What a file has besides data. */
struct catalog {
    struct checkpoint_head head;
    struct layout_dataset *datasets;
    int count;
};

/* Reads it by HDF5, whose module is loaded. Local. 0, or -1 with text, which does not name the file. */
int catalog_read(struct catalog *catalog, const char *path, struct error *error);

/* NULL: it is not there. */
const struct layout_dataset *catalog_find(const struct catalog *catalog, const char *name);

void catalog_free(struct catalog *catalog);

/* ---- As struct store_table has it --------------------------------------------------------------- */

int file_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **handle, struct error *error);
struct slab_reader file_reader(void *handle);
void file_close(void *handle);
int file_needs(const char *path, char ***names, int *count, struct error *error);

#endif
