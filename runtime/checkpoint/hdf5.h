/*
 * lib/epop/hdf5.so: libhdf5 behind a table, so that libepop does not depend on it. One process of a job calls it, from
 * one thread at a time; it makes and reads the structure of files. The data itself is written and read without it
 * (parts.h), as each dataset is one stretch of the file.
 */
#ifndef EPOP_CHECKPOINT_HDF5_H
#define EPOP_CHECKPOINT_HDF5_H

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"
#include "runtime/checkpoint/layout.h"

#define HDF5_MODULE_VERSION 1u

/* All: 0, or -1 with text, in which `path` does not stand. */
struct hdf5_module {
    unsigned version;
    /* In the place of the file that is there. */
    int (*create)(const char *path, const struct checkpoint_head *head, void **file, struct error *error);
    /* Sets dataset->offset. */
    int (*add)(void *file, struct layout_dataset *dataset, const struct layout_type *type, struct error *error);
    int (*seal)(void *file, const struct layout_dataset *dataset, struct error *error); /* with its checksum */
    /* dataset->earlier has it. */
    int (*link)(void *file, const struct layout_dataset *dataset, struct error *error);
    /* Writes what is left. It is freed, also when that fails. */
    int (*close)(void *file, struct error *error);
    /* Frees it; the file is to be removed. */
    void (*discard)(void *file);
    /* All that a file has but data, of which it is checked that it can be there; the datasets are from malloc(). */
    int (*read)(const char *path, struct checkpoint_head *head, struct layout_dataset **datasets, int *count,
                struct error *error);
};

#endif
