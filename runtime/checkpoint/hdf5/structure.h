/* What the module's files have in common: the names in a file. docs/reference/checkpoint.md describes them. */
#ifndef EPOP_CHECKPOINT_HDF5_STRUCTURE_H
#define EPOP_CHECKPOINT_HDF5_STRUCTURE_H

#include <hdf5.h>

#include "runtime/checkpoint/hdf5.h"

#define WORD_FORMAT "EPOP checkpoint"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_WORD "little"
#else
#define BYTE_ORDER_WORD "big"
#endif

/* A row of the root's attribute `linked`: which file has a dataset that is linked from here. */
struct linked {
    char name[LAYOUT_NAME], file[LAYOUT_NAME];
    uint64_t checksum;
};
hid_t linked_type(void); /* to be closed */

#endif
