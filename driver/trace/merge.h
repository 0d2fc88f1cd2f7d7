/* Makes the trace of the buffers of all processes, which lie in one directory, and of what the job said at its end. */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/trace/record.h"
#include "runtime/base/error.h"

/* Names in the directory: a buffer is BUFFER_NAME with the number of its process. */
#define TRACE_BUFFER_NAME "buffer."
#define TRACE_JOB_NAME    "job.json"

#define TRACE_SUMMARY_MAX 4800 /* a path, and what is said of the trace */

struct trace_buffers {
    int count;
    size_t room;
    struct trace_header **buffers; /* by process */
};

/* Maps all valid buffers of a directory. Never fails: what cannot be read is left out. */
void buffers_open(struct trace_buffers *all, const char *directory);
void buffers_close(struct trace_buffers *all);

/*
 * Writes the trace, of at most `limit` bytes; thins the buffers for that. 0, and summary is the line that says
 * what was written; or -1 with text.
 */
int merge_trace(const char *directory, const char *path, int64_t limit, char summary[TRACE_SUMMARY_MAX],
                struct error *error);

#endif
