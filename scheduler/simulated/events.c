/* A heap of events: see events.h. */
#include "scheduler/simulated/events.h"

#include <stdlib.h>

#include "runtime/base/array.h"

static bool before(const struct event *a, const struct event *b)
{
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->index != b->index ? a->index < b->index : a->order < b->order;
}

int events_add(struct events *events, const struct event *event)
{
    struct event new = *event;
    size_t at = events->count;
    if (array_reserve(&events->heap, &events->room, events->count + 1, sizeof *events->heap))
        return -1;
    new.order = events->added++;
    events->count++;
    for (; at && before(&new, &events->heap[(at - 1) / 2]); at = (at - 1) / 2)
        events->heap[at] = events->heap[(at - 1) / 2];
    events->heap[at] = new;
    return 0;
}

const struct event *events_first(const struct events *events)
{
    return events->count ? events->heap : NULL;
}

static size_t earlier_child(const struct events *events, size_t at)
{
    size_t child = 2 * at + 1;
    return child + 1 < events->count && before(&events->heap[child + 1], &events->heap[child]) ? child + 1 : child;
}

void events_drop(struct events *events)
{
    struct event last = events->heap[--events->count];
    size_t at = 0;
    for (size_t child; (child = earlier_child(events, at)) < events->count; at = child) {
        if (!before(&events->heap[child], &last))
            break;
        events->heap[at] = events->heap[child];
    }
    if (events->count)
        events->heap[at] = last;
}

void events_free(struct events *events)
{
    free(events->heap);
    *events = (struct events){0};
}
