/* Times of all processes on the clock of process 0: see trace_clock. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include "driver/trace/record.h"

/* A time of that process, on the clock of process 0. Never turns the order of two times of one process round. */
int64_t clock_common(const struct trace_header *process, int64_t time);

#endif
