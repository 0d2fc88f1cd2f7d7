/*
 * What process 0 puts into the collector's directory at the end of the job: the buffers of processes on other hosts,
 * which come to it as text, and what the job knows of itself.
 */
#ifndef TRACE_HANDOVER_H
#define TRACE_HANDOVER_H

#include <epop/driver.h>

#include "driver/trace/buffer.h"

#define TRACE_HANDOVER_BYTES (1 << 20) /* more is thinned */

/* The buffer as text, from malloc(); NULL: no memory. The buffer may be written to meanwhile. */
char *handover_pack(const struct trace_header *buffer);

/* The buffer in such a text, from malloc(); NULL: there is none. */
struct trace_header *handover_read(const char *text);

/* Puts the buffers of all records into the directory. What cannot be put there is left out. */
void handover_unpack(const char *directory, const epop_job_t *job);

/* Puts there what the job knows: its end, adaptations, refusals, the recovery and checkpoints. */
void handover_job(const char *directory, const epop_job_t *job);

#endif
