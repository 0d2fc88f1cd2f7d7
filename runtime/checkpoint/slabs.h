/* Slabs of a file that is written: store_table has what they promise. */
#ifndef EPOP_CHECKPOINT_SLABS_H
#define EPOP_CHECKPOINT_SLABS_H

#include "runtime/checkpoint/store.h"

int slabs_write(void *handle, const struct slab *slab, struct error *error);
int slabs_link(void *handle, const char *name, const char *earlier, struct error *error);

#endif
