/* Arrays that grow: a pointer, how many elements there are, and for how many there is room. */
#ifndef EPOP_BASE_ARRAY_H
#define EPOP_BASE_ARRAY_H

#include <stddef.h>

/* Room for `wanted` elements of `size` bytes. items: the address of the pointer to the first, which may be NULL, and
 * changes. 0, or -1 when out of memory: then all is as before. Local. */
int array_reserve(void *items, size_t *room, size_t wanted, size_t size);

#endif
