/* Reading a file: the function of struct hdf5_module, which says what it promises. */
#ifndef EPOP_CHECKPOINT_HDF5_READ_H
#define EPOP_CHECKPOINT_HDF5_READ_H

#include "runtime/checkpoint/hdf5.h"

int read_structure(const char *path, struct checkpoint_head *head, struct layout_dataset **datasets, int *count,
                   struct error *error);

#endif
