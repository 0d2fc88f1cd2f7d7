/* Allocatable arrays of Fortran: the descriptors of gfortran, and what the module epop calls to list arrays by them. */
#include "runtime/describe/allocatable.h"

#include <stdlib.h>

#include "epop/unstructured.h"
#include "runtime/describe/describe.h"

/*
 * The descriptor of an array, as gfortran has it since version 9 (libgfortran.h). It begins with the address of the
 * data, which gfortran has from malloc() and gives to free(). That of ISO_Fortran_binding.h is a copy, which lasts for
 * a call; and gfortran 12 leaves the type out when it takes back the copy of an array that was not allocated.
 */
struct dimension {
    ptrdiff_t stride, lower, upper;
};
struct descriptor {
    void *data;
    size_t offset;
    size_t element;
    int version;
    signed char rank, type;
    signed short attribute;
    ptrdiff_t span;
    struct dimension dim[];
};

enum { INTEGER = 1, LOGICAL = 2, REAL = 3, COMPLEX = 4 }; /* gfortran's numbers of types */

/* type(epop_allocatable_t) of the module. */
struct allocatable {
    struct descriptor *descriptor;
    int32_t type, bytes, rank;
};

struct described_array {
    int entry;
    int part; /* of sparse rows: 0 the starts, else one of the arrays */
    struct allocatable array;
};

static MPI_Datatype datatype_of(struct allocatable a)
{
    switch (a.type) {
    case REAL:
        return a.bytes == 4 ? MPI_FLOAT : MPI_DOUBLE;
    case COMPLEX:
        return a.bytes == 8 ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX;
    default:
        return a.bytes == 4 ? MPI_INT32_T : MPI_INT64_T;
    }
}

/* ---- Bounds ------------------------------------------------------------------------------------- */

struct bounds {
    int64_t lower[EPOP_BLOCKS_DIMS], count[EPOP_BLOCKS_DIMS];
};

/* The last dimension of blocks is the first one of Fortran. What is owned begins with 1. */
static struct bounds bounds_of_blocks(const epop_blocks_t *blocks, int rank, int size)
{
    struct bounds b = {{0}, {0}};
    int64_t first[EPOP_BLOCKS_DIMS], count[EPOP_BLOCKS_DIMS];
    bool some = epop_blocks_elements(blocks, rank, size) > 0;
    epop_blocks_local(blocks, rank, size, first, count);
    for (int i = 0; i < blocks->dims; i++) {
        int ghosts = blocks->ghosts[blocks->dims - 1 - i];
        b.lower[i] = 1 - ghosts;
        b.count[i] = some ? count[blocks->dims - 1 - i] + 2 * ghosts : 0;
    }
    return b;
}

static int64_t count_of(const struct described *entry, int part, int rank, int size)
{
    int64_t rows, elements;
    if (entry->kind == &kind_csr) {
        describe_csr_extent(entry, rank, size, &rows, &elements);
        return part ? elements : rows + 1;
    }
    return entry->kind->bytes(entry, rank, size) / describe_bytes(entry->type, 1);
}

static struct bounds bounds_of(const struct described *entry, int part, int rank, int size)
{
    struct bounds b = {.lower = {1, 1}};
    if (entry->kind == &kind_blocks)
        return bounds_of_blocks(entry->layout, rank, size);
    if (entry->kind == &kind_matrix)
        describe_matrix_extent(entry, rank, size, &b.count[0], &b.count[1]);
    else
        b.count[0] = count_of(entry, part, rank, size);
    return b;
}

static void set_bounds(struct allocatable a, const struct bounds *b)
{
    struct descriptor *d = a.descriptor;
    ptrdiff_t stride = 1, offset = 0;
    d->element = (size_t)a.bytes;
    d->version = 0;
    d->rank = (signed char)a.rank;
    d->type = (signed char)a.type;
    d->attribute = 0;
    d->span = a.bytes;
    for (int i = 0; i < a.rank; i++) {
        d->dim[i] = (struct dimension){stride, b->lower[i], b->lower[i] + b->count[i] - 1};
        offset -= stride * b->lower[i];
        stride *= b->count[i];
    }
    d->offset = (size_t)offset;
}

int describe_bounds(const struct epop_description *d, int rank, int size)
{
    int result = 0;
    for (int i = 0; i < d->array_count && rank >= 0; i++) {
        const struct described_array *array = &d->arrays[i];
        struct descriptor *descriptor = array->array.descriptor;
        struct bounds bounds = bounds_of(&d->entries[array->entry], array->part, rank, size);
        if (!descriptor->data && !(descriptor->data = malloc(1)))
            result = -1;
        set_bounds(array->array, &bounds);
    }
    return result;
}

/* ---- What the module calls ---------------------------------------------------------------------- */

/* Of the entry that was listed behind the `before` ones, unless that was refused. */
static void keep_array(epop_description_t *d, const char *name, int before, int part, struct allocatable array)
{
    if (d->count == before)
        return;
    struct described_array *grown = realloc(d->arrays, ((size_t)d->array_count + 1) * sizeof *grown);
    if (!grown) {
        describe_refuse(d, name, "out of memory");
        return;
    }
    d->arrays = grown;
    d->arrays[d->array_count++] = (struct described_array){d->count - 1, part, array};
}

/* With an array that has the rank of what is listed. */
static bool has_rank(epop_description_t *d, const char *name, struct allocatable array, int rank)
{
    if (array.rank == rank)
        return true;
    describe_refuse(d, name, "its array has another rank than what it is described as");
    return false;
}

/* The functions take what their namesakes epop_describe_... take. */

EPOP_API void epop__fortran_array(epop_description_t *d, const char *name, struct allocatable array, epop_dist_t dist,
                                  unsigned flags)
{
    int before = d->count;
    if (!has_rank(d, name, array, 1))
        return;
    epop_describe_array(d, name, array.descriptor, datatype_of(array), dist, flags);
    keep_array(d, name, before, 0, array);
}

EPOP_API void epop__fortran_matrix(epop_description_t *d, const char *name, struct allocatable array,
                                   const epop_dist2d_t *dist, unsigned flags)
{
    int before = d->count;
    if (!has_rank(d, name, array, 2))
        return;
    if (!dist->column_major) {
        describe_refuse(d, name, "it is stored by rows, and an allocatable array by columns");
        return;
    }
    epop_describe_matrix(d, name, array.descriptor, datatype_of(array), dist, flags);
    keep_array(d, name, before, 0, array);
}

EPOP_API void epop__fortran_blocks(epop_description_t *d, const char *name, struct allocatable array,
                                   const epop_blocks_t *blocks, unsigned flags)
{
    int before = d->count;
    if (!has_rank(d, name, array, blocks->dims))
        return;
    epop_describe_blocks(d, name, array.descriptor, datatype_of(array), blocks, flags);
    keep_array(d, name, before, 0, array);
}

EPOP_API void epop__fortran_replicated(epop_description_t *d, const char *name, struct allocatable array, int64_t count,
                                       unsigned flags)
{
    int before = d->count;
    if (!has_rank(d, name, array, 1))
        return;
    epop_describe_replicated(d, name, array.descriptor, datatype_of(array), count, flags);
    keep_array(d, name, before, 0, array);
}

EPOP_API void epop__fortran_owned(epop_description_t *d, const char *name, struct allocatable array,
                                  const epop_partition_t *partition, unsigned flags)
{
    int before = d->count;
    if (!has_rank(d, name, array, 1))
        return;
    epop_describe_owned(d, name, array.descriptor, datatype_of(array), partition, flags);
    keep_array(d, name, before, 0, array);
}

#define ROW_ARRAYS 16

EPOP_API void epop__fortran_csr(epop_description_t *d, const char *name, struct allocatable starts, epop_dist_t rows,
                                const struct allocatable *arrays, int count, unsigned flags)
{
    epop_row_array_t row_arrays[ROW_ARRAYS];
    int before = d->count;
    if (count < 0 || count > ROW_ARRAYS) {
        describe_refuse(d, name, "it has more than 16 arrays, or less than none");
        return;
    }
    for (int i = 0; i < count; i++) {
        if (!has_rank(d, name, arrays[i], 1))
            return;
        row_arrays[i] = (epop_row_array_t){datatype_of(arrays[i]), arrays[i].descriptor};
    }
    if (!has_rank(d, name, starts, 1))
        return;
    epop_describe_csr(d, name, starts.descriptor, datatype_of(starts), rows, row_arrays, count, flags);
    keep_array(d, name, before, 0, starts);
    for (int i = 0; i < count; i++)
        keep_array(d, name, before, 1 + i, arrays[i]);
}

/* Fortran's functions without bind(C), which get the descriptor itself. */
#define ALLOCATABLE(of, type, bytes, rank)                                                                             \
    EPOP_API struct allocatable epop__fortran_##of##_##rank##_(struct descriptor *array) {                             \
        return (struct allocatable){array, type, bytes, rank};                                                         \
    }
#define ALLOCATABLES(of, type, bytes)                                                                                  \
    ALLOCATABLE(of, type, bytes, 1)                                                                                    \
    ALLOCATABLE(of, type, bytes, 2)                                                                                    \
    ALLOCATABLE(of, type, bytes, 3)                                                                                    \
    ALLOCATABLE(of, type, bytes, 4)

ALLOCATABLES(i4, INTEGER, 4)
ALLOCATABLES(i8, INTEGER, 8)
ALLOCATABLES(l4, LOGICAL, 4)
ALLOCATABLES(r4, REAL, 4)
ALLOCATABLES(r8, REAL, 8)
ALLOCATABLES(c4, COMPLEX, 8)
ALLOCATABLES(c8, COMPLEX, 16)
