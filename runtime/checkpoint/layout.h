/*
 * How data stands in a file: the element's type in the file's terms, and where which dataset is. Knows neither MPI nor
 * HDF5: what the store and its module have in common.
 */
#ifndef EPOP_CHECKPOINT_LAYOUT_H
#define EPOP_CHECKPOINT_LAYOUT_H

#include <stdint.h>

#define LAYOUT_FIELDS 32
#define LAYOUT_DIMS   8
#define LAYOUT_NAME   256

enum layout_class { LAYOUT_INTEGER, LAYOUT_UNSIGNED, LAYOUT_FLOAT, LAYOUT_COMPLEX, LAYOUT_OPAQUE };

/* `count` numbers of `size` bytes, one after the other. */
struct layout_field {
    enum layout_class class;
    int64_t size, count;
};

/* An element without gaps: one field, or the members of a structure in their order. */
struct layout_type {
    int64_t size;
    int fields;
    struct layout_field field[LAYOUT_FIELDS];
    char word[LAYOUT_NAME]; /* "float64", "int32[3]", "float64,int32[2]", "opaque24" */
};

/* One dataset of a file. */
struct layout_dataset {
    char name[LAYOUT_NAME];
    char type[LAYOUT_NAME]; /* layout_type.word */
    int64_t size;           /* of an element */
    int dims;
    int64_t extent[LAYOUT_DIMS];
    int64_t offset;            /* of its first byte; 0 where it has none */
    uint64_t checksum;         /* checksum.h */
    char earlier[LAYOUT_NAME]; /* the file of the same directory that has it; "": this one */
};

#endif
