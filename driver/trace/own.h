/*
 * This process's buffer. Slices are opened and closed by the program's thread; calls of MPI may end in any thread.
 * Nothing here allocates, waits or calls the system but own_begin, own_read_clock and own_end.
 */
#ifndef TRACE_OWN_H
#define TRACE_OWN_H

#include <epop/driver.h>

#include "driver/trace/clock.h"
#include "driver/trace/lanes.h"
#include "runtime/control/clock_offset.h"

#define TRACE_SAMPLE_NS 50000000 /* from one sample of the time in MPI to the next */

struct trace_own {
    struct trace_header *buffer; /* NULL: not begun */
    bool shared;                 /* it is a file, where the collector finds it */
    atomic_flag busy;            /* a thread adds a record */
    int64_t next_sample;
};

/* Makes the buffer, a file in that directory or (NULL) memory alone. 0, or -1 with errno. */
int own_begin(struct trace_own *own, const char *directory, int process, size_t size, int64_t least_call);

/* The program's name and elements. */
void own_describe(struct trace_own *own, const epop_program_t *program);

/* A reading of the clock of process 0: the one that is given, or one that is made now unless the clock is the same. */
void own_note_clock(struct trace_own *own, const struct clock_reading *reading);
void own_read_clock(struct trace_own *own);

void own_add(struct trace_own *own, enum trace_lane_name lane, const struct trace_record *record);

static inline void own_open(struct trace_own *own, enum trace_open_name which, const struct trace_open *open)
{
    own->buffer->open[which] = *open;
}

/* Adds the slice that is open, as a record of that kind with that number; none is open then. */
void own_close(struct trace_own *own, enum trace_open_name which, int64_t now, uint32_t number);

/* Notes how much time was spent in MPI up to now, if it is time to; `always`: anyway. */
void own_sample(struct trace_own *own, int64_t now, bool always);

void own_end(struct trace_own *own);

#endif
