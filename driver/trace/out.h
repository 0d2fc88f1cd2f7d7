/*
 * The file, as it is written: one event of the Chrome trace format a line, never more bytes than the limit, always
 * valid JSON. It gets its name when it is complete.
 */
#ifndef TRACE_OUT_H
#define TRACE_OUT_H

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/error.h"

/* The track of the job as a whole; processes go by their number in the job. */
#define TRACE_JOB_PID 999999
/* A process's further tracks are so far apart: 1 its ranks, from 2 on other threads. */
#define TRACE_THREAD_TID 1000000

struct trace_out {
    FILE *file;
    char path[4096], part[4110];
    int64_t base;             /* time 0 of the trace, ns */
    int64_t limit;            /* bytes that events may take */
    int64_t written, dropped; /* bytes; events that had no room */
    int failed;               /* errno of the first write that failed */
};

/* May a trace be written there? Leaves a valid, empty one. 0, or -1 with one line of text. */
int out_prepare(const char *path, struct error *error);

/* 0, or -1 with one line of text. */
int out_open(struct trace_out *out, const char *path, int64_t limit, struct error *error);

/*
 * One event: its phase, process, track, time and duration (-1: none of either), name and category, and what else it
 * has, as text of JSON members (NULL: nothing). `name` may be anything. Beyond the limit it is counted as dropped.
 */
struct trace_event {
    char phase;
    int pid, tid;
    int64_t time, duration;
    const char *name, *category, *more;
};
void out_event(struct trace_out *out, const struct trace_event *event);

/* Ends the events, adds about the trace as a whole, and gives the file its name. 0, or -1 with one line of text. */
int out_close(struct trace_out *out, const cJSON *about, struct error *error);

/* Removes what a process that was killed has left of the trace that it was to write there. */
void out_discard(const char *path);

/* A string for JSON, without the quotation marks: control characters escaped, what is no UTF-8 replaced. */
void out_escape(const char *text, char *escaped, size_t size);

#endif
