/*
 * What this process measures while somebody asks: per element and size of the world its iterations, their time, and how
 * much of that was in MPI. The program's thread alone writes the sums, behind a sequence number each; the control
 * thread switches it on and off, and reads at any moment. Neither waits for the other.
 */
#ifndef EPOP_METER_H
#define EPOP_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "epop/visibility.h"
#include "runtime/member/spread.h"

#define METER_CELLS  256 /* pairs of element and size; of more the earlier ones are forgotten */
#define METER_WINDOW 32  /* values of MTCT that are kept */
#define METER_GROUP  0.1 /* seconds of iterations that make a value; at least one iteration */

/* Written as described, unless said otherwise. */
struct meter_cell {
    _Atomic uint32_t sequence; /* odd: is being written */
    _Atomic int round;         /* of measuring; of another one than the present: free */
    _Atomic int pc, size;
    _Atomic int64_t iterations, loop, mpi; /* ticks */
    _Atomic int64_t values;                /* of MTCT so far, of which the last are kept */
    _Atomic int64_t window_mpi[METER_WINDOW], window_compute[METER_WINDOW];
    /* for the program's thread alone: the value that is being made, and the world that the window belongs to */
    int64_t group_loop, group_mpi;
    unsigned world;
};

struct meter {
    _Atomic int on;             /* 0, or the round of measuring */
    _Atomic int64_t group;      /* ticks that make a value */
    int64_t (*mpi_ticks)(void); /* that the program's thread has spent in MPI while it was on */
    struct meter_cell cells[METER_CELLS];
    struct {
        _Atomic uint32_t sequence;
        _Atomic int pc;
        _Atomic int64_t ticks, visit, iteration, bound; /* ticks 0: not known */
    } progress;
    /* for the control thread alone */
    int rounds;
    /* for the program's thread alone */
    struct meter_cell *cell; /* of the present element; NULL: the next iteration is the first */
    int round, size;
    unsigned world;     /* counts the sizes of the world that it has seen */
    int64_t began, mpi; /* when the present iteration began; MPI time then */
};

/* ---- The program's thread; exported for the epop executable, where the walk is ---- */

static inline bool meter_is_on(const struct meter *meter)
{
    return __builtin_expect(atomic_load_explicit(&meter->on, memory_order_relaxed) != 0, 0);
}

/* While it is on: an iteration of that element begins here; what was before it is not counted. */
EPOP_API void epop__meter_begin(struct meter *meter, int pc, int size);

/* How far the program was in the element that it was in then. */
struct meter_progress {
    int pc;
    int64_t visit, iteration, bound;
};

/* While it is on: one has ended, and the next begins. True now and then: the progress is wanted. */
EPOP_API bool epop__meter_iteration(struct meter *meter, int pc, int size);
EPOP_API void epop__meter_progress(struct meter *meter, const struct meter_progress *progress);

/* The iteration that is under way is not counted. */
EPOP_API void epop__meter_forget(struct meter *meter);

/* ---- The control thread ---- */

/* tick: in seconds. On when it is on already: nothing happens. */
void meter_switch(struct meter *meter, bool on, double tick);

struct meter_reading {
    int pc, size;
    int64_t iterations;
    double loop, mpi; /* seconds */
    struct spread mtct;
};

/* Of cell 0 to METER_CELLS - 1. False: it is free, or cannot be read now. */
bool meter_read(const struct meter *meter, int cell, double tick, struct meter_reading *reading);

/* False: not known. *when: ticks. */
bool meter_read_progress(const struct meter *meter, int64_t *when, struct meter_progress *progress);

#endif
