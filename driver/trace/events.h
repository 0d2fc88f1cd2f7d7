/* What the records of processes, and what the job said, become in the file: tracks, slices, counters and arrows. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include <cjson/cJSON.h>

#include "driver/trace/buffer.h"
#include "driver/trace/names.h"
#include "driver/trace/out.h"

/* The tracks' names, all slices and the counter of one process: that at `index` in the buffers. */
void events_of_process(struct trace_out *out, const struct trace_buffers *buffers, int index,
                       const struct trace_names *names);

/* The job's own track: its name and the counter of the world's size. */
void events_of_job(struct trace_out *out, const struct trace_buffers *all);

/* Who sent how much to whom: arrows, of which both ends are there. */
void events_of_flows(struct trace_out *out, const struct trace_buffers *all);

/* What is in TRACE_JOB_NAME: requests and refusals, as instants; checkpoints, as slices. */
void events_of_requests(struct trace_out *out, const cJSON *job);

#endif
