/*
 * The collector: a process beside process 0, in a session of its own, that writes the trace when process 0 lets go of
 * it, also if that was killed together with all ranks. A socket connects the two: its end is the signal to write, and
 * the byte that comes back says that the trace is there.
 */
#ifndef TRACE_COLLECTOR_H
#define TRACE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/error.h"

#define TRACE_ARGUMENT "--collect-trace" /* as epop's first argument; no option of its own */

struct collector {
    int lifeline; /* -1: none */
    pid_t pid;
    const char *directory, *output;
    bool failed; /* it has been waited for, and there is no trace */
};

/* Starts it; in_use marks the directory (control_directory), the collector takes a copy; directory and output stay the
 * caller's, and are kept. 0, or -1 with one line of text. */
int collector_start(struct collector *collector, const char *directory, int in_use, const char *output, int64_t limit,
                    struct error *error);

/* Has it write, and waits until it has; it prints what it wrote, or why it could not. 0, or -1: there is no trace.
 * Once; from then on it only tells that. */
int collector_finish(struct collector *collector);

/* epop TRACE_ARGUMENT DIRECTORY OUTPUT LIMIT, with the lifeline as its input. Removes the directory. */
int collector_main(int argc, char **argv);

#endif
