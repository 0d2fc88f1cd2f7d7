/* The backends there are, the preferred ones first. */
#include <stdio.h>
#include <string.h>

#include "runtime/backends/backend.h"

static const struct backend *const backends[] = {&backend_join, &backend_pool, &backend_spawn};

#define COUNT (sizeof backends / sizeof backends[0])

static const struct backend *best(bool lends)
{
    char reason[200];
    for (size_t i = 0; i < COUNT; i++)
        if (!(lends && !(backends[i]->flags & BACKEND_LENDS)) && !(backends[i]->flags & BACKEND_ASKED) &&
            !backends[i]->available(reason, sizeof reason))
            return backends[i];
    return &backend_pool;
}

const struct backend *backend_find(const char *name, bool lends, char *error, size_t error_size)
{
    char reason[200];
    if (!strcmp(name, "auto"))
        return best(lends);
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(name, backends[i]->coordinator.name)) {
            if (!backends[i]->available(reason, sizeof reason))
                return backends[i];
            snprintf(error, error_size, "the backend '%s' does not work here: %s", name, reason);
            return NULL;
        }
    int length = snprintf(error, error_size, "there is no backend '%s'; choose one of: auto", name);
    for (size_t i = 0; i < COUNT && length > 0 && (size_t)length < error_size; i++)
        length += snprintf(error + length, error_size - (size_t)length, " %s", backends[i]->coordinator.name);
    return NULL;
}
