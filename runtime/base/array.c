/* Arrays that grow, by doubling. */
#include "runtime/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int array_reserve(void *items, size_t *room, size_t wanted, size_t size)
{
    void *old, *larger;
    size_t more = *room < 8 ? 8 : *room;
    if (wanted <= *room)
        return 0;
    while (more < wanted)
        more = more > SIZE_MAX / 2 ? wanted : 2 * more;
    memcpy(&old, items, sizeof old); /* whatever it points to */
    if (more > SIZE_MAX / size || !(larger = realloc(old, more * size)))
        return -1;
    memcpy(items, &larger, sizeof larger);
    *room = more;
    return 0;
}
