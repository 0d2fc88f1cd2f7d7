/* Element types for tests of redistribution, each with where its bytes of data lie, and blocks filled with them. */
#ifndef TESTS_REDIST_TYPES_H
#define TESTS_REDIST_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <mpi.h>

enum {
    TEST_TYPES = 7,
    TYPE_BYTES_MAX = 32,
    OVERLAP_STRIDE = 4 << 17, /* bytes: farther than the elements of any array here, of which blocks have 7^6 at most */
};

typedef struct test_type {
    MPI_Datatype type;
    const char *name;
    int64_t extent, overhang; /* bytes per element, and behind the last one */
    int size;
    int64_t offset[TYPE_BYTES_MAX]; /* of each byte of data */
} test_type;

static void add_bytes(test_type *type, int64_t at, int count)
{
    for (int i = 0; i < count; i++)
        type->offset[type->size++] = at + i;
}

static test_type make_plain(MPI_Datatype type, const char *name, int size)
{
    test_type t = {.type = type, .name = name, .extent = size};
    add_bytes(&t, 0, size);
    return t;
}

/* struct { double; int32_t; double; }: 24 bytes, of which 4 are a gap. */
static test_type make_struct(void)
{
    test_type t = {.name = "struct with a gap", .extent = 24};
    int lengths[] = {1, 1, 1};
    MPI_Aint at[] = {0, 8, 16};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT32_T, MPI_DOUBLE};
    MPI_Type_create_struct(3, lengths, at, types, &t.type);
    MPI_Type_commit(&t.type);
    add_bytes(&t, 0, 12);
    add_bytes(&t, 16, 8);
    return t;
}

static test_type make_triple(void)
{
    test_type t = {.name = "three doubles", .extent = 24};
    MPI_Type_contiguous(3, MPI_DOUBLE, &t.type);
    MPI_Type_commit(&t.type);
    add_bytes(&t, 0, 24);
    return t;
}

static test_type make_vector(void)
{
    test_type t = {.name = "vector with gaps", .extent = 10};
    MPI_Type_vector(3, 1, 2, MPI_INT16_T, &t.type);
    MPI_Type_commit(&t.type);
    for (int i = 0; i < 3; i++)
        add_bytes(&t, 4 * i, 2);
    return t;
}

/* Data starts behind the element's address, and a gap follows it. */
static test_type make_shifted(void)
{
    test_type t = {.name = "shifted", .extent = 12};
    int length = 1, at = 1;
    MPI_Datatype inner;
    MPI_Type_indexed(1, &length, &at, MPI_INT32_T, &inner);
    MPI_Type_create_resized(inner, 0, 12, &t.type);
    MPI_Type_commit(&t.type);
    MPI_Type_free(&inner);
    add_bytes(&t, 4, 4);
    return t;
}

/* A column of a matrix that is stored by rows: the elements reach into each other. */
static test_type make_column(void)
{
    test_type t = {.name = "column", .extent = 4, .overhang = OVERLAP_STRIDE};
    MPI_Datatype inner;
    MPI_Type_vector(2, 1, OVERLAP_STRIDE / 4, MPI_INT32_T, &inner);
    MPI_Type_create_resized(inner, 0, 4, &t.type);
    MPI_Type_commit(&t.type);
    MPI_Type_free(&inner);
    add_bytes(&t, 0, 4);
    add_bytes(&t, OVERLAP_STRIDE, 4);
    return t;
}

static void make_types(test_type types[TEST_TYPES])
{
    types[0] = make_plain(MPI_CHAR, "char", 1);
    types[1] = make_plain(MPI_DOUBLE, "double", 8);
    types[2] = make_struct();
    types[3] = make_triple();
    types[4] = make_vector();
    types[5] = make_shifted();
    types[6] = make_column();
}

static void free_types(test_type types[TEST_TYPES])
{
    for (int i = 2; i < TEST_TYPES; i++)
        MPI_Type_free(&types[i].type);
}

/* Byte k of the element with number `id`. */
static unsigned char byte_of(int64_t id, int k)
{
    uint64_t x = ((uint64_t)id * TYPE_BYTES_MAX + (uint64_t)k + 1) * 0x9E3779B97F4A7C15u;
    return (unsigned char)(x >> 56 ^ x >> 33);
}

static char *new_block(const test_type *type, int64_t count)
{
    return count == 0 ? NULL : malloc((size_t)(count * type->extent + type->overhang));
}

static void put(const test_type *type, char *block, int64_t at, int64_t id)
{
    for (int k = 0; k < type->size; k++)
        block[at * type->extent + type->offset[k]] = (char)byte_of(id, k);
}

static int holds(const test_type *type, const char *block, int64_t at, int64_t id)
{
    for (int k = 0; k < type->size; k++)
        if ((unsigned char)block[at * type->extent + type->offset[k]] != byte_of(id, k))
            return 0;
    return 1;
}

#endif
