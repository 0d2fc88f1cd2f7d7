/*
 * The lanes of a buffer: a lane that is full is thinned, so that what is kept covers the whole run evenly. Nothing is
 * allocated but by whoever hands in the buffer.
 */
#ifndef TRACE_LANES_H
#define TRACE_LANES_H

#include <stddef.h>

#include "driver/trace/record.h"

#define TRACE_BUFFER_MIN 65536

/* Divides `size` bytes, all zero, into header and lanes. Local, as everything here. */
void lanes_init(struct trace_header *buffer, size_t size, int64_t least_call);

/* Is this a buffer of that size, in which nothing points outside? */
bool lanes_valid(const struct trace_header *buffer, size_t size);

struct trace_record *lane_records(const struct trace_header *buffer, enum trace_lane_name name);

/* Will a record of that number and duration be kept now? */
static inline bool lane_keeps(const struct trace_lane *lane, uint32_t number, int64_t duration)
{
    return number % lane->stride == 0 || duration >= lane->longest;
}

/* Adds the record, unless the lane does not keep it. Thins the lane first when it is full. */
void lane_add(struct trace_header *buffer, enum trace_lane_name name, const struct trace_record *record);

/* Keeps every second one of those that it keeps, and from now on. */
void lane_thin(struct trace_header *buffer, enum trace_lane_name name);

#endif
