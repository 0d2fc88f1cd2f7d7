/*
 * The loops that the program's thread is in, found in its MPI calls between the begin of an iteration and its end. A
 * stay is turns of one loop that follow each other. It is kept in the buffer's header until another one begins, so that
 * it outlives the process.
 */
#ifndef TRACE_STAYS_H
#define TRACE_STAYS_H

#include "driver/trace/buffer.h"
#include "interpose/interpose.h"
#include "runtime/loops/follower.h"

struct recorder;

struct stays {
    struct follower follower;
    bool on;
    int pc;               /* of the element */
    int open[LOOPS_LAPS]; /* those with turns, in the header */
    int open_count;
};

/* All of the program's thread. From here on its calls are followed, in that element. */
void stays_begin(struct recorder *recorder, int pc);
/* The call that its observers are being told of begins now. */
void stays_called(struct recorder *recorder, enum interpose_function function, int64_t now);
/* Until here; all stays are records. */
void stays_end(struct recorder *recorder);

#endif
