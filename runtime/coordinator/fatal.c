/* The job cannot go on: see fatal.h. */
#include "runtime/coordinator/fatal.h"

#include "runtime/coordinator/state.h"

void fatal(struct coordinator *c, const char *text)
{
    c->config.ops->fatal(c->config.context, text);
}

void fatal_memory(struct coordinator *c)
{
    fatal(c, "out of memory in the coordinator");
}

void fatal_fault(struct coordinator *c, const char *text)
{
    bool ends_anyway = c->stop.asked || c->stop.forced || c->events.interrupted || c->events.terminations;
    if (c->config.ops->fault && !ends_anyway)
        c->config.ops->fault(c->config.context);
    fatal(c, text);
}
