/* What kinds need of the elements of an MPI datatype: room, bytes, checksums. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"

int64_t describe_bytes(MPI_Datatype type, int64_t count)
{
    redist_element element;
    return redist_element_of(type, &element) == 0 ? redist_block_bytes(&element, count) : 0;
}

bool describe_room(MPI_Datatype type, int64_t count, void **block)
{
    int64_t bytes = describe_bytes(type, count);
    *block = bytes > 0 ? calloc(1, (size_t)bytes) : NULL;
    return bytes == 0 || *block;
}

bool describe_copy(const struct described *entry, int64_t count, void **copy)
{
    int64_t bytes = describe_bytes(entry->type, count);
    *copy = bytes > 0 && *entry->local ? malloc((size_t)bytes) : NULL;
    if (*copy)
        memcpy(*copy, *entry->local, (size_t)bytes);
    return bytes == 0 || *copy;
}

void describe_release_part(struct described *entry)
{
    free(*entry->local);
    *entry->local = NULL;
}

/* With a last mix, so that sums of many do not cancel. */
uint64_t describe_mix(int64_t index, const void *bytes, size_t size)
{
    uint64_t value = hash_bytes(HASH_BEGIN ^ (uint64_t)index * 0x9e3779b97f4a7c15u, bytes, size);
    value ^= value >> 31;
    return value * 0xbf58476d1ce4e5b9u;
}

/* One element with gaps: only what is its data. Without the memory it is left out. */
static uint64_t mix_packed(const redist_element *element, int64_t index, const void *at, char *room)
{
    int position = 0;
    if (!room || MPI_Pack(at, 1, element->type, room, (int)element->size, &position, MPI_COMM_SELF) != MPI_SUCCESS)
        return 0;
    return describe_mix(index, room, (size_t)position);
}

void describe_mix_elements(MPI_Datatype type, const void *elements, int64_t count,
                           int64_t (*global)(const void *context, int64_t local), const void *context, uint64_t *sum)
{
    redist_element element;
    if (!elements || redist_element_of(type, &element) != 0)
        return;
    char *room = element.dense ? NULL : malloc((size_t)element.size + 1);
    for (int64_t i = 0; i < count; i++) {
        const char *at = (const char *)elements + i * element.extent;
        *sum += element.dense ? describe_mix(global(context, i), at, (size_t)element.size)
                              : mix_packed(&element, global(context, i), at, room);
    }
    free(room);
}

void describe_sum_indices(int64_t indices, int rank, int64_t *count, uint64_t *sum)
{
    if (rank != 0)
        return;
    *count += 1;
    *sum += describe_mix(0, &indices, sizeof indices);
}
