/* What the redistributions of one window have moved. */
#include "runtime/redist/traffic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/member/member.h"

struct redist_traffic redist_traffic;

void redist_traffic_begin(int size)
{
    free(redist_traffic.sent);
    while (redist_traffic.array_count > 0)
        free((char *)redist_traffic.arrays[--redist_traffic.array_count].name);
    free(redist_traffic.arrays);
    redist_traffic = (struct redist_traffic){.sent = calloc(2 * (size_t)size, sizeof *redist_traffic.sent)};
    if (!redist_traffic.sent)
        return;
    redist_traffic.received = redist_traffic.sent + size;
    redist_traffic.size = size;
}

static epop_array_traffic_t *find_array(const char *name)
{
    for (int i = 0; i < redist_traffic.array_count; i++)
        if (!strcmp(redist_traffic.arrays[i].name, name))
            return &redist_traffic.arrays[i];
    return NULL;
}

static bool reserve_array(void)
{
    struct redist_traffic *t = &redist_traffic;
    if (t->array_count < t->array_room)
        return true;
    int room = t->array_room ? 2 * t->array_room : 8;
    epop_array_traffic_t *grown = realloc(t->arrays, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    t->arrays = grown;
    t->array_room = room;
    return true;
}

/* The one of that name, made if there is none. NULL: out of memory, and nothing is counted. */
static epop_array_traffic_t *array_of(const char *name)
{
    epop_array_traffic_t *found = find_array(name);
    char *copy = found || !reserve_array() ? NULL : strdup(name);
    if (!copy)
        return found;
    found = &redist_traffic.arrays[redist_traffic.array_count++];
    *found = (epop_array_traffic_t){.name = copy};
    return found;
}

void redist_traffic_array(const char *name)
{
    redist_traffic.array = name && redist_traffic.size ? array_of(name) : NULL;
}

void redist_traffic_ahead(const char *name, int64_t bytes)
{
    epop_array_traffic_t *array = redist_traffic.size ? array_of(name) : NULL;
    if (array)
        array->ahead += bytes;
}

void redist_traffic_moves(void)
{
    if (!redist_traffic.begin)
        redist_traffic.begin = monotonic_ns();
}

void redist_traffic_moved(void)
{
    redist_traffic.end = monotonic_ns();
}

int64_t redist_traffic_all_received(void)
{
    int64_t bytes = 0;
    for (int rank = 0; rank < redist_traffic.size; rank++)
        bytes += redist_traffic.received[rank];
    return bytes;
}

epop_traffic_t *redist_traffic_list(const int *processes, int *count)
{
    const struct redist_traffic *t = &redist_traffic;
    epop_traffic_t *list = t->size ? malloc((size_t)t->size * sizeof *list) : NULL;
    *count = 0;
    for (int rank = 0; list && rank < t->size; rank++)
        if (t->sent[rank] || t->received[rank])
            list[(*count)++] = (epop_traffic_t){processes[rank], t->sent[rank], t->received[rank]};
    return list;
}
