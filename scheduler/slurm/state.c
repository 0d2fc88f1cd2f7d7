/* What all parts of the adviser call: see state.h. */
#include "scheduler/slurm/state.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtime/wire/loop.h"

/* A disk that is full is no reason to advise nobody. */
static void write_down(const struct adviser *adviser, const struct journal_event *event)
{
    struct error error;
    if (adviser->journal && event->job)
        journal_event_add(adviser->journal, event, &error);
}

void adviser_tell(struct adviser *adviser, const struct journal_event *event)
{
    write_down(adviser, event);
    if (event->job)
        fprintf(stderr, "epoprm: job %" PRId64 ": %s: %s\n", event->job, event->kind, event->text);
    else
        fprintf(stderr, "epoprm: %s\n", event->text);
    if (adviser->listener.tell)
        adviser->listener.tell(adviser->listener.context, event);
}

void adviser_wake(struct adviser *adviser)
{
    if (!adviser->stale)
        wire_timer_set(adviser->again, ADVISER_APART);
    adviser->stale = true;
}

void adviser_over(struct adviser *adviser)
{
    adviser->over = true;
    wire_wake(adviser->base);
}
