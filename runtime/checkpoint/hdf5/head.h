/* The head of a checkpoint as attributes of the root group. */
#ifndef EPOP_CHECKPOINT_HDF5_HEAD_H
#define EPOP_CHECKPOINT_HDF5_HEAD_H

#include <hdf5.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"

/* 0, or -1. */
int head_put(hid_t file, const struct checkpoint_head *head);

/* 0, or -1 with text: no checkpoint, one of another format or byte order, or damaged. */
int head_get(hid_t file, struct checkpoint_head *head, struct error *error);

#endif
