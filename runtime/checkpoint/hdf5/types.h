/* Types of elements as HDF5 has them, with their byte order. */
#ifndef EPOP_CHECKPOINT_HDF5_TYPES_H
#define EPOP_CHECKPOINT_HDF5_TYPES_H

#include <hdf5.h>

#include "runtime/checkpoint/layout.h"

/* To be closed; negative: it cannot be made. */
hid_t types_make(const struct layout_type *type);

/* Of text, ended by a zero. */
hid_t types_text(size_t bytes);

#endif
