/*
 * The interface of lib/epop/hdf5.so: libhdf5 behind a table of functions, so that libepop does not depend on it. One
 * process of a job calls it, from one thread at a time, to make and read the structure of files. The data itself is
 * written and read without it, as each dataset is one stretch of the file.
 */
#ifndef EPOP_CHECKPOINT_HDF5_H
#define EPOP_CHECKPOINT_HDF5_H

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"

#define HDF5_MODULE_VERSION 2u

/* All return 0, or -1 with text, which does not name the file. */
struct hdf5_module {
    unsigned version;
    /* Of libhdf5, as "1.10.8". */
    void (*library)(char text[32]);
    /* In place of the file of that path. */
    int (*create)(const char *path, const struct checkpoint_head *head, void **file, struct error *error);
    /* Sets dataset->offset. */
    int (*add)(void *file, struct layout_dataset *dataset, const struct layout_type *type, struct error *error);
    /* Gives the dataset its checksum. */
    int (*seal)(void *file, const struct layout_dataset *dataset, struct error *error);
    /* A dataset of another file, dataset->earlier. */
    int (*link)(void *file, const struct layout_dataset *dataset, struct error *error);
    /* Writes what is left, and frees the handle, also if that fails. */
    int (*close)(void *file, struct error *error);
    /* Frees the handle without writing; the file is to be removed. */
    void (*discard)(void *file);
    /* All that a file has besides data, after a look whether the data can be there; the datasets are from malloc(). */
    int (*read)(const char *path, struct checkpoint_head *head, struct layout_dataset **datasets, int *count,
                struct error *error);
};

/* Loads the module, once; it stays. NULL with text that says what to install. */
const struct hdf5_module *hdf5_load(struct error *error);

#endif
