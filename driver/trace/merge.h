/* Makes the trace of the buffers of all processes, which lie in one directory, and of what the job said at its end. */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/trace/record.h"

/* Names in the directory: a buffer is BUFFER_NAME with the number of its process. */
#define TRACE_BUFFER_NAME "buffer."
#define TRACE_JOB_NAME    "job.json"

struct trace_buffers {
    int count;
    size_t room;
    struct trace_header **buffers; /* by process */
};

/* Maps all valid buffers of a directory. Never fails: what cannot be read is left out. */
void buffers_open(struct trace_buffers *all, const char *directory);
void buffers_close(struct trace_buffers *all);

/*
 * Writes the trace, of at most `limit` bytes; thins the buffers for that. text gets the line that says what was
 * written, or why not. 0 or -1.
 */
int merge_trace(const char *directory, const char *path, int64_t limit, char *text, size_t text_size);

#endif
