/*
 * The buffer of one process: what it did, as records of fixed size, in lanes, one for each kind of record. It is a file
 * that the process has mapped, so that what was written survives the process, however that ends. Only the collector
 * reads it. A lane that is full is thinned, so that what is kept covers the whole run evenly. Nothing here allocates.
 */
#ifndef TRACE_BUFFER_H
#define TRACE_BUFFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/host.h"
#include "runtime/loops/loops.h"

/* Names of files in the job's directory: of a buffer, with the number of its process behind it; of what the job says.
 */
#define TRACE_BUFFER_NAME "buffer."
#define TRACE_JOB_NAME    "job.json"

#define TRACE_BUFFER_MIN 65536 /* bytes */

#define TRACE_MAGIC     0x3265636172547045u /* the format's number is part of it */
#define TRACE_NAMES_MAX 64
#define TRACE_NAME_MAX  40
#define TRACE_FILES     8 /* in which loops are */
#define TRACE_FILE_MAX  256

/* All times are the process's own monotonic clock, in nanoseconds. A slice has a duration. */
enum trace_kind {
    /* TRACE_STRUCTURE */
    TRACE_RANK = 1, /* slice: b of c ranks, since adaptation a */
    TRACE_STEP,     /* slice: name is an enum trace_step, of adaptation a, from b to c ranks */
    TRACE_SENT,     /* a bytes to process b, in adaptation c; name: in which move of that window */
    TRACE_RECEIVED, /* the same, from process b */
    /* TRACE_ELEMENTS */
    TRACE_ELEMENT, /* slice: name is the pc, a the visit, on rank b of c */
    /* TRACE_ITERATIONS */
    TRACE_ITERATION, /* slice: name is the pc, a the iteration, b the visit */
    /* TRACE_CALLS */
    TRACE_CALL, /* slice: name is the function */
    /* TRACE_SAMPLES */
    TRACE_SAMPLE, /* a: time spent in MPI so far */
    /* TRACE_STAYS */
    TRACE_STAY, /* slice: a turns of loop `name` in the element b, of the time c millionths in MPI */
};

/* What an adaptation, or a hold, consists of in one process. */
enum trace_step { STEP_HOLD, STEP_AWAIT, STEP_CONNECT, STEP_ADAPT, STEP_MOVE, STEP_COMMIT, STEP_ALL, STEP_COUNT };

struct trace_record {
    int64_t begin, duration;
    int64_t a;
    int32_t b, c;
    uint32_t number; /* decides whether it is kept when the lane is thinned */
    uint16_t name;
    uint8_t kind;
    uint8_t thread; /* 0: the program's */
};

enum trace_lane_name {
    TRACE_STRUCTURE,
    TRACE_ELEMENTS,
    TRACE_ITERATIONS,
    TRACE_CALLS,
    TRACE_SAMPLES,
    TRACE_STAYS,
    TRACE_LANES
};

struct trace_lane {
    uint64_t offset; /* of its first record, in the buffer */
    uint32_t capacity;
    _Atomic uint32_t used;
    uint64_t seen;   /* records offered */
    uint32_t stride; /* one in so many is kept: those whose number it divides; a power of two */
    int64_t longest; /* and all that take this long; INT64_MAX: no matter how long */
};

/* One reading of how this clock and that of process 0 differ: theirs = ours + offset, give or take the uncertainty. */
struct trace_clock {
    int64_t at, offset, uncertainty;
};

/* A slice that is not over; begin 0: none. */
struct trace_open {
    int64_t begin;
    int64_t a;
    int32_t b, c;
    uint16_t name;
};

enum trace_open_name { OPEN_RANK, OPEN_ELEMENT, OPEN_ITERATION, OPEN_STEP, OPEN_CALL, TRACE_OPEN };

/* A place in the program: so far from the begin of that one of the files; TRACE_FILES: not known. */
struct trace_place {
    uint64_t offset;
    uint8_t file;
};

/* That of a call, and of the call of the function that it is in. */
struct trace_site {
    struct trace_place call, caller;
    uint16_t what; /* the function that is called */
};

struct trace_loop {
    struct trace_site head, tail;
    bool known;
};

/* Turns of a loop that followed each other; 0: none. */
struct trace_stay {
    int64_t begin, end, turns, mpi;
    int32_t pc;
};

struct trace_header {
    uint64_t magic;
    uint64_t size; /* of the whole buffer */
    int32_t process, pid;
    char host[HOST_OWN_MAX], program[64];
    int32_t elements;
    char names[TRACE_NAMES_MAX][TRACE_NAME_MAX];
    int32_t clocks;              /* readings so far */
    struct trace_clock clock[2]; /* the first and the last */
    bool same_clock;             /* it is the very clock of process 0: nothing to correct */
    bool finished;               /* this process came to its end, or left, and closed its slices */
    int32_t failure;             /* the error that its program's block returned */
    int64_t least_call;          /* --trace-mpi */
    int64_t started, last;       /* first and last sign of life */
    int64_t call_total;          /* time in MPI, program's thread */
    uint64_t calls;              /* all of them */
    uint64_t iterations, visits; /* all of them */
    struct trace_open open[TRACE_OPEN];
    char files[TRACE_FILES][TRACE_FILE_MAX];
    struct trace_loop loops[LOOPS_LAPS];
    struct trace_stay stays[LOOPS_LAPS]; /* that may not be over */
    struct trace_lane lanes[TRACE_LANES];
};

/* The buffers of all processes. */
struct trace_buffers {
    int count;
    size_t room;
    struct trace_header **buffers; /* by process */
};

/* Divides `size` bytes, all zero, into header and lanes. */
void buffer_init(struct trace_header *buffer, size_t size, int64_t least_call);

/* Is this a buffer of that size, in which nothing points outside? */
bool buffer_is_valid(const struct trace_header *buffer, size_t size);

struct trace_record *buffer_records(const struct trace_header *buffer, enum trace_lane_name name);

/* Will a record of that number and duration be kept now? */
static inline bool buffer_keeps(const struct trace_lane *lane, uint32_t number, int64_t duration)
{
    return (number & (lane->stride - 1)) == 0 || duration >= lane->longest;
}

/* Of the time in it, those in MPI. */
static inline int32_t trace_millionths(const struct trace_stay *stay)
{
    double share = stay->end > stay->begin ? (double)stay->mpi / (double)(stay->end - stay->begin) : 0;
    return (int32_t)(1e6 * (share < 1 ? share : 1));
}

/* Adds the record, unless the lane does not keep it. Thins the lane first when it is full. */
void buffer_add(struct trace_header *buffer, enum trace_lane_name name, const struct trace_record *record);

/* Keeps every second one of those that it keeps, and from now on. */
void buffer_thin(struct trace_header *buffer, enum trace_lane_name name);

/* A time of that process, on the clock of process 0. Never turns the order of two times of one process round. */
int64_t buffer_common_time(const struct trace_header *process, int64_t time);

#endif
