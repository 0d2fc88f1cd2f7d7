/*
 * Elements in memory. MPI's own packing costs some hundred ns per call, too much for runs of a few elements, so
 * elements without gaps are copied by hand; the others go through MPI_Pack.
 */
#include "runtime/redist/element.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Elements, and blocks of them --------------------------------------------------------------- */

int redist_element_of(MPI_Datatype type, redist_element *element)
{
    MPI_Count size;
    MPI_Aint low, extent, true_low, true_extent;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        MPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        MPI_Type_get_true_extent(type, &true_low, &true_extent) != MPI_SUCCESS)
        return -1;
    *element = (redist_element){.type = type,
                                .size = size,
                                .extent = extent,
                                .true_start = size > 0 ? true_low : 0,
                                .true_extent = size > 0 ? true_extent : 0};
    element->dense = size == extent && true_extent == extent && true_low == 0;
    element->compact = element->true_extent <= extent;
    if (!element->compact && size > INT_MAX)
        return -1;
    return extent >= 0 && (extent > 0 || size == 0) && element->true_start >= 0 ? 0 : -1;
}

int64_t redist_block_bytes(const redist_element *element, int64_t count)
{
    int64_t bytes, end = element->true_start + element->true_extent;
    if (count == 0)
        return 0;
    int64_t beyond = end > element->extent ? end - element->extent : 0; /* the last element's overhang */
    if (__builtin_mul_overflow(count, element->extent, &bytes) || __builtin_add_overflow(bytes, beyond, &bytes))
        return -1;
    return bytes;
}

enum { HUGE_PAGES_FROM = 4 << 20 };

/* Only advice: where the kernel does not take it nothing is lost. */
void redist_advise(void *block, int64_t bytes)
{
    const uintptr_t page = 4096;
    if (bytes < HUGE_PAGES_FROM)
        return;
    uintptr_t start = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)block + (uintptr_t)bytes) & ~(page - 1);
    madvise((void *)start, end - start, MADV_HUGEPAGE);
}

int64_t redist_edge;

redist_fault redist_new_block(const redist_element *element, int64_t count, void **block)
{
    int64_t bytes = redist_block_bytes(element, count);
    *block = NULL;
    if (bytes < 0)
        return REDIST_TOO_LARGE;
    if (bytes > 0 && !(*block = malloc((size_t)(bytes + redist_edge))))
        return REDIST_NO_MEMORY;
    redist_advise(*block, bytes);
    return REDIST_FINE;
}

/* ---- Copying ------------------------------------------------------------------------------------ */

#define COPY_FIXED(bytes)                                                                                              \
    case bytes:                                                                                                        \
        for (int64_t i = 0; i < times; i++)                                                                            \
            memcpy(to + i * to_step, from + i * from_step, bytes);                                                     \
        return

/* `times` runs of `length` bytes. The fixed lengths become single moves. */
static void copy_runs(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t length, int64_t times)
{
    switch (length) {
        COPY_FIXED(1);
        COPY_FIXED(2);
        COPY_FIXED(4);
        COPY_FIXED(8);
        COPY_FIXED(12);
        COPY_FIXED(16);
        COPY_FIXED(24);
        COPY_FIXED(32);
    }
    for (int64_t i = 0; i < times; i++)
        memcpy(to + i * to_step, from + i * from_step, (size_t)length);
}

/* Steps and units in elements; the elements have `bytes` bytes each that are copied. */
static void copy_places(const redist_element *element, const redist_piece *piece, char *to, redist_place to_place,
                        const char *from, redist_place from_place, int64_t bytes)
{
    int64_t extent = element->extent;
    int64_t to_step = to_place.step * extent, from_step = from_place.step * extent;
    to += to_place.at * extent;
    from += from_place.at * extent;
    if (to_place.unit == 1 && from_place.unit == 1) {
        copy_runs(to, to_step, from, from_step, (piece->length - 1) * extent + bytes, piece->times);
        return;
    }
    for (int64_t i = 0; i < piece->times; i++)
        copy_runs(to + i * to_step, to_place.unit * extent, from + i * from_step, from_place.unit * extent, bytes,
                  piece->length);
}

void redist_copy(const redist_element *element, const redist_piece *piece, const void *before, void *after)
{
    int64_t skip = element->true_start;
    copy_places(element, piece, (char *)after + skip, piece->on[REDIST_AFTER], (const char *)before + skip,
                piece->on[REDIST_BEFORE], element->true_extent);
}

/* One element at a time does not reach into itself, a longer run may. */
void redist_move_down(const redist_element *element, const redist_piece *piece, void *block)
{
    redist_place to = piece->on[REDIST_AFTER], from = piece->on[REDIST_BEFORE];
    int64_t extent = element->extent, bytes = (piece->length - 1) * extent + element->true_extent;
    if (to.at == from.at && (piece->times == 1 || to.step == from.step))
        return;
    if (piece->length == 1) {
        redist_copy(element, piece, block, block);
        return;
    }
    char *start = (char *)block + element->true_start;
    for (int64_t i = 0; i < piece->times; i++)
        memmove(start + (to.at + i * to.step) * extent, start + (from.at + i * from.step) * extent, (size_t)bytes);
}

/* ---- Packing ------------------------------------------------------------------------------------ */

static redist_place packed_place(const redist_piece *piece)
{
    return (redist_place){.at = 0, .unit = 1, .step = piece->length};
}

/* Calls MPI_Pack or MPI_Unpack for every run of one side of the piece. */
static int by_mpi(const redist_element *element, const redist_piece *piece, redist_place place, char *block,
                  char *packed, int64_t room, int64_t *position, int unpack)
{
    int contiguous = place.unit == 1;
    int64_t runs = contiguous ? piece->times : piece->times * piece->length;
    int count = contiguous ? (int)piece->length : 1, at = (int)*position, error = MPI_SUCCESS;
    for (int64_t i = 0; i < runs && error == MPI_SUCCESS; i++) {
        int64_t offset = contiguous ? i * place.step : i / piece->length * place.step + i % piece->length * place.unit;
        char *address = block + (place.at + offset) * element->extent;
        error = unpack ? MPI_Unpack(packed, (int)room, &at, address, count, element->type, MPI_COMM_SELF)
                       : MPI_Pack(address, count, element->type, packed, (int)room, &at, MPI_COMM_SELF);
    }
    *position = at;
    return error;
}

int redist_pack(const redist_element *element, const redist_piece *piece, const void *block, char *packed, int64_t room,
                int64_t *position)
{
    redist_place place = piece->on[REDIST_BEFORE];
    if (!element->dense)
        return by_mpi(element, piece, place, (char *)block, packed, room, position, 0);
    copy_places(element, piece, packed + *position, packed_place(piece), block, place, element->size);
    *position += piece->length * piece->times * element->size;
    return MPI_SUCCESS;
}

int redist_unpack(const redist_element *element, const redist_piece *piece, const char *packed, int64_t room,
                  int64_t *position, void *block)
{
    redist_place place = piece->on[REDIST_AFTER];
    if (!element->dense)
        return by_mpi(element, piece, place, block, (char *)packed, room, position, 1);
    copy_places(element, piece, block, place, packed + *position, packed_place(piece), element->size);
    *position += piece->length * piece->times * element->size;
    return MPI_SUCCESS;
}

/* ---- Arrays of integers ------------------------------------------------------------------------- */

int redist_index_width(MPI_Datatype type)
{
    /* What this MPI does not have (Fortran's may be missing) is MPI_DATATYPE_NULL. */
    const MPI_Datatype integers[] = {MPI_INT,   MPI_INT32_T, MPI_INT64_T, MPI_LONG,     MPI_LONG_LONG, MPI_AINT,
                                     MPI_COUNT, MPI_OFFSET,  MPI_INTEGER, MPI_INTEGER4, MPI_INTEGER8};
    int size = 0;
    bool known = false;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        known = known || (type == integers[i] && type != MPI_DATATYPE_NULL);
    if (known)
        MPI_Type_size(type, &size);
    return size == 4 || size == 8 ? size : 0;
}
