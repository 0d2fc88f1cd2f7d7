/* How a buffer comes from another host to the collector's, as text by way of process 0; and what the job says at its
 * end. */
#ifndef TRACE_HANDOVER_H
#define TRACE_HANDOVER_H

#include <stddef.h>

#include <epop/driver.h>

#include "driver/trace/record.h"

#define TRACE_HANDOVER_BYTES (1 << 20) /* more is thinned */

/* The buffer as text, from malloc(); NULL: no memory. The buffer may be written to meanwhile. */
char *handover_pack(const struct trace_header *buffer);

/* The buffer in such a text, from malloc(); NULL: there is none. */
struct trace_header *handover_read(const char *text);

/* Puts the buffers of all records into the directory. What cannot be put there is left out. */
void handover_unpack(const char *directory, const epop_job_t *job);

/* Puts there what the job knows: its end, requests, refusals. */
void handover_job(const char *directory, const epop_job_t *job);

/* Writes a file of the directory. */
void handover_put(const char *directory, const char *name, const void *content, size_t size);

#endif
