/* What the loops of all processes are called, as debug information has their lines. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "driver/trace/buffer.h"

struct trace_names;

/* Takes a moment. NULL: no memory; then loops have no names. */
struct trace_names *names_read(const struct trace_buffers *all);

/* "cg.c:12-30", of the loop of that lap. */
const char *names_of(const struct trace_names *names, int process, int lap);

void names_free(struct trace_names *names);

#endif
