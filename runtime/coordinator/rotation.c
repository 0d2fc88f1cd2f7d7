/* Files of checkpoints that may go: see rotation.h. */
#include "runtime/coordinator/rotation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

void rotation_destroy(struct rotation *r)
{
    free(r->files);
    *r = (struct rotation){0};
}

int rotation_add(struct rotation *r, int number, int base)
{
    if (array_reserve(&r->files, &r->room, r->count + 1, sizeof *r->files))
        return -1;
    r->files[r->count++] = (struct rotation_file){number, base};
    return 0;
}

static bool is_linked_to(const struct rotation *r, size_t first, int number)
{
    for (size_t i = first; i < r->count; i++)
        if (r->files[i].base == number)
            return true;
    return false;
}

int rotation_next(struct rotation *r, int keep)
{
    size_t stay = keep > 0 ? (size_t)keep : r->count;
    for (size_t i = 0; i + stay < r->count; i++) {
        int number = r->files[i].number;
        if (is_linked_to(r, r->count - stay, number))
            continue;
        memmove(r->files + i, r->files + i + 1, (--r->count - i) * sizeof *r->files);
        return number;
    }
    return 0;
}
