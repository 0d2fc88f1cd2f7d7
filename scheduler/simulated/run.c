/* What is shared in a simulation under way: the heap of events, and how jobs are found and events expected. */
#include "scheduler/simulated/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/simulated/schedule.h"

/* ---- Events ------------------------------------------------------------------------------------- */

static bool comes_before(const struct event *a, const struct event *b)
{
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->index != b->index ? a->index < b->index : a->order < b->order;
}

int run_add_event(struct run *run, const struct event *event)
{
    struct events *events = &run->events;
    struct event new = *event;
    size_t at = events->count;
    if (array_reserve(&events->heap, &events->room, events->count + 1, sizeof *events->heap))
        return -1;
    new.order = events->added++;
    events->count++;
    for (; at && comes_before(&new, &events->heap[(at - 1) / 2]); at = (at - 1) / 2)
        events->heap[at] = events->heap[(at - 1) / 2];
    events->heap[at] = new;
    return 0;
}

const struct event *run_first_event(const struct run *run)
{
    return run->events.count ? run->events.heap : NULL;
}

static size_t earlier_child(const struct events *events, size_t at)
{
    size_t child = 2 * at + 1;
    return child + 1 < events->count && comes_before(&events->heap[child + 1], &events->heap[child]) ? child + 1
                                                                                                     : child;
}

void run_drop_event(struct run *run)
{
    struct events *events = &run->events;
    struct event last = events->heap[--events->count];
    size_t at = 0;
    for (size_t child; (child = earlier_child(events, at)) < events->count; at = child) {
        if (!comes_before(&events->heap[child], &last))
            break;
        events->heap[at] = events->heap[child];
    }
    if (events->count)
        events->heap[at] = last;
}

void run_free_events(struct run *run)
{
    free(run->events.heap);
    run->events = (struct events){0};
}

/* ---- Jobs and notes ----------------------------------------------------------------------------- */

static int by_id(const void *key, const void *element)
{
    int64_t id = *(const int64_t *)key, other = ((const struct play_id *)element)->id;
    return (id > other) - (id < other);
}

struct play *run_find(const struct run *run, int64_t id)
{
    const struct play_id *found = bsearch(&id, run->ids, run->count, sizeof *run->ids, by_id);
    return found ? &run->plays[found->index] : NULL;
}

int run_expect(struct run *run, struct play *play, enum event_kind kind, double time, struct error *error)
{
    struct event event = {.time = time < run->now ? run->now : time, .kind = kind};
    event.index = (size_t)(play - run->plays);
    event.stamp = ++play->stamps[kind];
    return run_add_event(run, &event) ? error_memory(error) : 0;
}

void run_forget(struct play *play, enum event_kind kind)
{
    play->stamps[kind]++;
}

int run_note(struct run *run, struct error *error, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return record_event(run->schedule, run->now, text) ? error_memory(error) : 0;
}
