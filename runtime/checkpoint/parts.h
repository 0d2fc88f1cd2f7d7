/*
 * A rank's part of a dataset, between memory and file: its elements in the file's terms, and writing, copying and
 * reading them. In the file elements stand one after the other, without gaps. Local.
 */
#ifndef EPOP_CHECKPOINT_PARTS_H
#define EPOP_CHECKPOINT_PARTS_H

#include <mpi.h>
#include <stdbool.h>

#include "runtime/checkpoint/format.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"

/* An MPI datatype in the file's terms. What cannot be told as numbers, or has too many members, is opaque. 0, or -1 if
 * MPI does not know the type. */
int element_type_of(MPI_Datatype type, struct layout_type *layout);

struct part {
    redist_element element;
    int64_t first, count;
    char *data;
    int64_t offset; /* of the dataset in the file */
    uint64_t sum;   /* checksum of what has passed */
};

/* False: elements of this type cannot be written (overlapping, or too large to be packed). */
bool part_of_slab(struct part *part, const struct slab *slab);

int64_t part_bytes(const struct part *part);
int64_t part_place(const struct part *part); /* in the file */

/* These and the two below return 0, or an error number (EIO: MPI cannot pack it; ENODATA: the file ends before). */
int part_write(struct part *part, int fd);
int part_copy(struct part *part, char *to);
int part_read(struct part *part, int fd);

/* Only looks what is there: `count` elements of `size` bytes from `first` on. */
int part_check(int fd, int64_t offset, int64_t size, int64_t first, int64_t count, uint64_t *sum);

int part_write_bytes(int fd, const char *bytes, int64_t count, int64_t offset);

#endif
