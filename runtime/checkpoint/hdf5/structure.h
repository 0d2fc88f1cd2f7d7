/*
 * What is in the file of a checkpoint, in terms of HDF5: types of elements, attributes, the head, and the table of
 * links to earlier files. Writing and reading share it; docs/reference/checkpoint.md describes the file.
 */
#ifndef EPOP_CHECKPOINT_HDF5_STRUCTURE_H
#define EPOP_CHECKPOINT_HDF5_STRUCTURE_H

#include <hdf5.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"

/* ---- Errors ------------------------------------------------------------------------------------- */

/* What HDF5 prints of itself, while that is held. */
struct errors_before {
    H5E_auto2_t print;
    void *data;
};

/* Around all calls of HDF5: nothing is printed between them. The program may use the same library. */
struct errors_before errors_hold(void);
void errors_restore(const struct errors_before *before);

/* Sets what HDF5 says of a failure as one line, "what: why", where `why` is what it found first. Always -1. */
int errors_tell(struct error *error, const char *what);

/* ---- Types of elements -------------------------------------------------------------------------- */

/* With their byte order. To be closed; negative: it cannot be made. */
hid_t types_make(const struct layout_type *type);

/* ---- Attributes of groups and datasets ---------------------------------------------------------- */

/* All return 0, or -1. count 0: a scalar. */
int attributes_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *value);
int attributes_put_text(hid_t object, const char *name, const char *text);

/* One value, converted to the type in memory. */
int attributes_get(hid_t object, const char *name, hid_t type, void *value);
/* From malloc(). */
int attributes_get_text(hid_t object, const char *name, char **text);

/* ---- Links -------------------------------------------------------------------------------------- */

/* A row of the root's attribute `linked`: which file has a dataset that is linked from here. */
struct linked {
    char name[LAYOUT_NAME], file[LAYOUT_NAME];
    uint64_t checksum;
};
hid_t linked_type(void); /* to be closed */

/* ---- The head ----------------------------------------------------------------------------------- */

/* It stands in attributes of the root group. 0, or -1. */
int head_put(hid_t file, const struct checkpoint_head *head);

/* 0, or -1 with text: no checkpoint, one of another format or byte order, or damaged. */
int head_get(hid_t file, struct checkpoint_head *head, struct error *error);

#endif
