/*
 * What this process measures while somebody asks: per element and size of the world its iterations, their time, and how
 * much of that was in MPI. The program's thread alone writes the sums; the control thread switches it on and off, and
 * reads at any moment. Neither waits for the other: of what belongs together there are two copies, and the writer is
 * never in the one that its sequence number points at, also while it has no processor.
 */
#ifndef EPOP_METER_H
#define EPOP_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "epop/visibility.h"
#include "runtime/member/spread.h"

#define METER_CELLS  256     /* pairs of element and size; of more, those of earlier worlds are forgotten */
#define METER_WINDOW 32      /* values of MTCT that are kept */
#define METER_LOOPS  1000000 /* elements have lower numbers, loops have higher ones */
#define METER_GROUP  0.1     /* seconds of iterations that make a value; at least one iteration */

/* One more than are kept: that which is being written is not read. */
#define METER_RING (METER_WINDOW + 1)

struct meter_sums {
    _Atomic int round; /* of measuring; of another one than the present: free */
    _Atomic int pc, size;
    _Atomic int64_t life;                  /* another number for each use of a cell in this process */
    _Atomic int64_t iterations, loop, mpi; /* ticks */
};

struct meter_cell {
    _Atomic uint32_t sequence; /* its last bit says which of the two holds */
    struct meter_sums sums[2];
    /* The window: the values of MTCT since `first`, of which the last are kept. */
    _Atomic unsigned world; /* that it belongs to */
    _Atomic int64_t first, values;
    _Atomic int64_t window_mpi[METER_RING], window_compute[METER_RING];
    /* for the program's thread alone: the value that is being made */
    int64_t group_loop, group_mpi;
};

struct meter {
    _Atomic int on;             /* 0, or the round of measuring */
    _Atomic int64_t group;      /* ticks that make a value */
    int64_t (*mpi_ticks)(void); /* that the program's thread has spent in MPI while it was on */
    struct meter_cell cells[METER_CELLS];
    struct {
        _Atomic uint32_t sequence; /* as a cell's */
        struct {
            _Atomic int pc;
            _Atomic int64_t ticks, visit, iteration, bound; /* ticks 0: not known */
        } copies[2];
    } progress;
    _Atomic unsigned world; /* counts the worlds that it has seen; the program's thread alone writes it */
    /* for the control thread alone */
    int rounds;
    /* for the program's thread alone */
    unsigned breaks;         /* counts the moments at which what was under way was not counted any more */
    struct meter_cell *cell; /* of the present element; NULL: the next iteration is the first */
    int round, size;
    int64_t lives;
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

/* Another world: windows begin anew. Also while it is off. */
EPOP_API void epop__meter_world(struct meter *meter);

/* The iteration that is under way is not counted. */
EPOP_API void epop__meter_forget(struct meter *meter);

/* Between two iterations of one element, and in one: laps of loops may be counted. */
static inline bool meter_counts(const struct meter *meter)
{
    return meter->cell;
}

/* What is counted is of the present round of measuring. */
static inline bool meter_is_round(const struct meter *meter)
{
    return meter->round == atomic_load_explicit(&meter->on, memory_order_relaxed);
}

/* While it counts: a lap of a loop in the present element has ended, whose number takes the place of an element's.
 * Loops have numbers from METER_LOOPS on. */
void meter_lap(struct meter *meter, int number, int64_t loop, int64_t mpi);

/* ---- The control thread ---- */

/* tick: in seconds. On when it is on already: nothing happens. */
void meter_switch(struct meter *meter, bool on, double tick);

struct meter_reading {
    int pc, size;
    int64_t life; /* the sums of another one began at zero */
    int64_t iterations;
    double loop, mpi;   /* seconds */
    struct spread mtct; /* of the present world */
};

/* Of cell 0 to METER_CELLS - 1. False: it is free. */
bool meter_read(const struct meter *meter, int cell, double tick, struct meter_reading *reading);

/* False: not known. *when: ticks. */
bool meter_read_progress(const struct meter *meter, int64_t *when, struct meter_progress *progress);

#endif
