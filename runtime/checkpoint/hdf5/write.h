/* Writing a file: the functions of struct hdf5_module, which says what they promise. */
#ifndef EPOP_CHECKPOINT_HDF5_WRITE_H
#define EPOP_CHECKPOINT_HDF5_WRITE_H

#include "runtime/checkpoint/hdf5.h"

int write_create(const char *path, const struct checkpoint_head *head, void **file, struct error *error);
int write_add(void *file, struct layout_dataset *dataset, const struct layout_type *type, struct error *error);
int write_seal(void *file, const struct layout_dataset *dataset, struct error *error);
int write_link(void *file, const struct layout_dataset *dataset, struct error *error);
int write_close(void *file, struct error *error);
void write_discard(void *file);

#endif
