/* The calls of MPI, for the trace: how long each takes, and what they take together in the program's thread. */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "driver/trace/own.h"

/* From here on, until calls_unobserve. The calling thread is the program's. -1: too many observe MPI. */
int calls_observe(struct trace_own *own);
void calls_unobserve(void);

#endif
