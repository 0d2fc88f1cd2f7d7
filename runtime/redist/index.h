/*
 * Arrays of integers as programs have them, of 4 or 8 bytes: lengths and starts of rows, weights.
 */
#ifndef REDIST_INDEX_H
#define REDIST_INDEX_H

#include <mpi.h>
#include <stdint.h>

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
