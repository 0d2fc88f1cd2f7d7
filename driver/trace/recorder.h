/*
 * What this process records while the program runs. Slices are opened and closed by the program's thread; calls of MPI
 * may end in any thread. Only recorder_begin, recorder_read_clock and recorder_end allocate, wait or call the system.
 */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include <epop/driver.h>

#include "driver/trace/buffer.h"
#include "driver/trace/stays.h"
#include "runtime/base/ticks.h"
#include "runtime/control/clock_offset.h"

#define TRACE_SAMPLE_NS 50000000 /* from one sample of the time in MPI to the next */

struct recorder {
    struct trace_header *buffer; /* NULL: not begun */
    bool shared;                 /* it is a file, where the collector finds it */
    atomic_flag busy;            /* a thread adds a record */
    struct tick_clock clock;
    int64_t next_sample;
    struct stays stays;
};

/* The program's thread alone. */
static inline int64_t recorder_now(struct recorder *recorder)
{
    return tick_clock_ns(&recorder->clock);
}

/* Makes the buffer, a file in that directory or (NULL) memory alone. 0, or -1 with errno. */
int recorder_begin(struct recorder *recorder, const char *directory, int process, size_t size, int64_t least_call);

/* The program's name and elements. */
void recorder_describe(struct recorder *recorder, const epop_program_t *program);

/* A reading of the clock of process 0: the one that is given, or one that is made now unless the clock is the same. */
void recorder_note_clock(struct recorder *recorder, const struct clock_reading *reading);
void recorder_read_clock(struct recorder *recorder);

void recorder_add(struct recorder *recorder, enum trace_lane_name lane, const struct trace_record *record);

static inline void recorder_open(struct recorder *recorder, enum trace_open_name which, const struct trace_open *open)
{
    recorder->buffer->open[which] = *open;
}

/* Adds the slice that is open, as a record of that kind with that number; none is open then. */
void recorder_close(struct recorder *recorder, enum trace_open_name which, int64_t now, uint32_t number);

/* Notes how much time was spent in MPI up to now, if it is time to; `always`: anyway. */
void recorder_sample(struct recorder *recorder, int64_t now, bool always);

void recorder_end(struct recorder *recorder);

/* From here on each call of MPI that takes long enough is a record, and all add to the time in MPI, until
 * recorder_unobserve_mpi. The calling thread is the program's. -1: too many observe MPI. */
int recorder_observe_mpi(struct recorder *recorder);
void recorder_unobserve_mpi(void);

#endif
