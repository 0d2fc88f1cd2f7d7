/* What the parts of a simulation share: see run.h. */
#include "scheduler/simulated/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/simulated/recording.h"

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
    return events_add(&run->events, &event) ? error_memory(error) : 0;
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
