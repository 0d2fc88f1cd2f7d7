/*
 * What a checkpoint consists of, for all who write or read one: its head, its datasets and their checksums. Knows
 * neither MPI nor HDF5, as libepop and the module lib/epop/hdf5.so share it. The file is laid out in hdf5/write.c.
 */
#ifndef EPOP_CHECKPOINT_FORMAT_H
#define EPOP_CHECKPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/describe/members.h"
#include "runtime/member/plan.h"

#define CHECKPOINT_FORMAT 1 /* of the file; another one is refused */

/* ---- The head ----------------------------------------------------------------------------------- */

#define CHECKPOINT_NUMBER_MOST 999999999 /* of a checkpoint; of all that is counted by int */

/* Values that consist of named members. */
struct head_members {
    const char *name;
    const struct members *members;
};

/* What a checkpoint has besides data. Strings are owned by who made it (checkpoint_head_free). */
struct checkpoint_head {
    int format;
    char *program;      /* epop_program_t.name */
    char *structure;    /* epop_program_to_json, or "" of an executable */
    char *arguments;    /* the program's arguments as a JSON array of strings */
    bool new_arguments; /* of who runs here: it goes on from what had others, too */
    struct position at; /* the iteration that comes next */
    int size;           /* ranks that wrote it */
    int number;         /* of the checkpoint in the job, from 1; goes on over restarts */
    int restarts;       /* how often the job was restarted before */
    double time;        /* seconds since 1970 */
    char *values;       /* describe_values_pack */
    size_t value_bytes;
    struct head_members *members; /* ended by a NULL name, which refers to a description; NULL: there is none */
};

/* Is each of its numbers one that can be? 0, or -1 with the first that cannot, in which the file is not named. */
int checkpoint_head_check(const struct checkpoint_head *head, struct error *error);

/* Frees what is in it, and leaves it empty. */
void checkpoint_head_free(struct checkpoint_head *head);

/* ---- Datasets ----------------------------------------------------------------------------------- */

#define LAYOUT_FIELDS 32
#define LAYOUT_DIMS   8
#define LAYOUT_NAME   256

enum layout_class { LAYOUT_INTEGER, LAYOUT_UNSIGNED, LAYOUT_FLOAT, LAYOUT_COMPLEX, LAYOUT_OPAQUE };

/* `count` numbers of `size` bytes, one after the other. */
struct layout_field {
    enum layout_class class;
    int64_t size, count;
};

/* An element's type in the file's terms, without gaps: one field, or the members of a structure in their order. */
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
    uint64_t checksum;         /* as checksum_part has it */
    char earlier[LAYOUT_NAME]; /* the file of the same directory that has it; "": this one */
};

/* ---- Checksums ---------------------------------------------------------------------------------- */

/*
 * The checksum of a dataset: the sum modulo 2^64 of a number for each unit of 8, 4, 2 or 1 bytes (the largest that
 * divides the element), which depends on the unit's place in the dataset and on its content. So the parts of the ranks
 * can be summed up apart, and it does not depend on how many there are.
 *
 * This one is of `bytes` bytes that begin at byte `at` of a dataset whose elements have `size` bytes; both are
 * multiples of it, or at least of the unit.
 */
uint64_t checksum_part(int64_t size, int64_t at, const void *data, size_t bytes);

#endif
