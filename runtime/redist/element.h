/*
 * Elements of an MPI datatype in memory: how large they and blocks of them are, and how pieces of a block are
 * packed, unpacked and copied. And arrays of integers whose width the program chose.
 */
#ifndef REDIST_ELEMENT_H
#define REDIST_ELEMENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/redist/agree.h"
#include "runtime/redist/dist.h"

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

/* Bytes that new blocks have behind their elements: 0, or what the debug driver's audit wants to look at. */
extern int64_t redist_edge;

/* A new block of `count` elements; NULL for none. */
redist_fault redist_new_block(const redist_element *element, int64_t count, void **block);
/* About to be written to for the first time: a page fault per 4 KiB costs as much time as the data that comes there;
 * with huge pages, which are asked for here, far less. */
void redist_advise(void *block, int64_t bytes);

/* One side of `piece` of block into (out of) packed, which has `room` bytes from *position on. Return an MPI error. */
int redist_pack(const redist_element *element, const redist_piece *piece, const void *block, char *packed, int64_t room,
                int64_t *position);
int redist_unpack(const redist_element *element, const redist_piece *piece, const char *packed, int64_t room,
                  int64_t *position, void *block);

/* From the old block to the new one; compact elements only. */
void redist_copy(const redist_element *element, const redist_piece *piece, const void *before, void *after);
/* The same within one block, where no element goes up; what lies together must do so on both sides. */
void redist_move_down(const redist_element *element, const redist_piece *piece, void *block);

/* ---- Arrays of integers ------------------------------------------------------------------------- */

/* As programs have them, of 4 or 8 bytes: lengths and starts of rows, weights. */

/* Bytes of an integer of that type; 0: it is none with a sign and of 4 or 8 bytes. */
int redist_index_width(MPI_Datatype type);

static inline int64_t redist_index_get(const void *array, int width, int64_t at)
{
    return width == 4 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

static inline void redist_index_set(void *array, int width, int64_t at, int64_t value)
{
    if (width == 4)
        ((int32_t *)array)[at] = (int32_t)value;
    else
        ((int64_t *)array)[at] = value;
}

#endif
