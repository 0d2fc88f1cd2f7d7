/* Attributes of groups and datasets. All return 0, or -1. */
#ifndef EPOP_CHECKPOINT_HDF5_ATTRIBUTES_H
#define EPOP_CHECKPOINT_HDF5_ATTRIBUTES_H

#include <hdf5.h>
#include <stdint.h>

int attributes_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *value);
int attributes_put_text(hid_t object, const char *name, const char *text);
int attributes_put_number(hid_t object, const char *name, int64_t number);

/* One value, converted to the type in memory. */
int attributes_get(hid_t object, const char *name, hid_t type, void *value);
int attributes_get_number(hid_t object, const char *name, int64_t *number);
/* From malloc(). */
int attributes_get_text(hid_t object, const char *name, char **text);
/* One of bytes: all of them, from malloc(). */
int attributes_get_bytes(hid_t object, const char *name, char **bytes, size_t *count);

#endif
