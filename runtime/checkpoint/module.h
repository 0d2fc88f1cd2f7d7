/* Loads the module for HDF5. */
#ifndef EPOP_CHECKPOINT_MODULE_H
#define EPOP_CHECKPOINT_MODULE_H

#include "runtime/checkpoint/hdf5.h"

/* Once; it stays. NULL with text that says what to install. */
const struct hdf5_module *checkpoint_module(struct error *error);

#endif
