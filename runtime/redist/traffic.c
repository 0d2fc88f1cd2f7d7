/* The counts of one window: see traffic.h. */
#include "runtime/redist/traffic.h"

#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/member/member.h"

struct redist_traffic redist_traffic;

void redist_traffic_begin(int size)
{
    free(redist_traffic.sent);
    redist_traffic = (struct redist_traffic){.sent = calloc(2 * (size_t)size, sizeof *redist_traffic.sent)};
    if (!redist_traffic.sent)
        return;
    redist_traffic.received = redist_traffic.sent + size;
    redist_traffic.size = size;
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
