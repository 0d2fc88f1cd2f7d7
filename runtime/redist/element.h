/*
 * Elements of an MPI datatype in memory, and how pieces of a block are packed, unpacked and copied.
 */
#ifndef REDIST_ELEMENT_H
#define REDIST_ELEMENT_H

#include <stddef.h>

#include "runtime/redist/cursor.h"

typedef struct redist_element {
    MPI_Datatype type;
    int64_t size;       /* bytes of data */
    int64_t extent;     /* bytes from one element to the next */
    int64_t true_start; /* first byte of data, from the element's address */
    int64_t true_extent;
    int dense;   /* an array of elements is `extent` bytes of data each, without gaps */
    int compact; /* elements may have gaps, but do not reach into each other */
} redist_element;

/* 0, or -1 if the type cannot be laid out in a block (no extent, or data in front of its address). */
int redist_element_of(MPI_Datatype type, redist_element *element);

/* Bytes of a block of `count` elements; -1 if there is no such number. */
int64_t redist_block_bytes(const redist_element *element, int64_t count);

/* One side of `piece` of block into (out of) packed, which has `room` bytes from *position on. Return an MPI error. */
int redist_pack(const redist_element *element, const redist_piece *piece, const void *block, char *packed, int64_t room,
                int64_t *position);
int redist_unpack(const redist_element *element, const redist_piece *piece, const char *packed, int64_t room,
                  int64_t *position, void *block);

/* From the old block to the new one; compact elements only. */
void redist_copy(const redist_element *element, const redist_piece *piece, const void *before, void *after);
/* The same within one block, where no element goes up; what lies together must do so on both sides. */
void redist_move_down(const redist_element *element, const redist_piece *piece, void *block);

#endif
