/*
 * What no block may change: the array of elements, and the data pointer. Only INIT sets that, by the address that it is
 * given; a program that keeps the address could do so later, but the ranks that join, and those that look at the data
 * between blocks, would not know.
 */
#include <stdlib.h>

#include "driver/debug/debug.h"
#include "runtime/base/hash.h"

/* Over the elements, and how many they are. */
static uint64_t hash_of(const epop_program_t *program)
{
    return hash_bytes(HASH_BEGIN ^ (uint64_t)program->size, program->elements,
                      (size_t)program->size * sizeof *program->elements);
}

void program_before(struct debug *debug)
{
    if (debug->place.block == EPOP_BLOCK_INIT)
        debug->structure = hash_of(debug->place.position.program);
}

void program_after(struct debug *debug, void *data)
{
    if (debug->place.block != EPOP_BLOCK_INIT && data != debug->data)
        breach(&debug->place.position, "%s replaced the data pointer (%p instead of %p); only INIT may set it",
               block_text(debug->place.block), data, debug->data);
    if (hash_of(debug->place.position.program) != debug->structure) {
        breach(&debug->place.position, "%s changed the program's array of elements", block_text(debug->place.block));
        debug->structure = hash_of(debug->place.position.program);
    }
}
