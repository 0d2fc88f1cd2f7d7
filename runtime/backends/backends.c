/* The backends there are. */
#include <stdio.h>
#include <string.h>

#include "runtime/backends/backend.h"

static const struct backend *const backends[] = {&backend_pool};

#define COUNT (sizeof backends / sizeof backends[0])

const struct backend *backend_find(const char *name, char *error, size_t error_size)
{
    if (!strcmp(name, "auto"))
        return backends[0];
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(name, backends[i]->coordinator.name))
            return backends[i];
    int length = snprintf(error, error_size, "there is no backend '%s'; choose one of: auto", name);
    for (size_t i = 0; i < COUNT && length > 0 && (size_t)length < error_size; i++)
        length += snprintf(error + length, error_size - (size_t)length, " %s", backends[i]->coordinator.name);
    return NULL;
}
