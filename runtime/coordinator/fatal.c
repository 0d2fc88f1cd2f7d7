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
