/*
 * What the programs of the conformance suite compute, whatever interface they are resized by: each process has every
 * size-th element of a table, and each step adds one to all of them and checks the sum and the number of the step. They
 * run until a file exists, say so at the end, and print WRONG and abort when something is not right.
 *
 *     PROGRAM FILE
 * With FILE.hold changes are not looked for; with FILE.kill, FILE.exit or FILE.crash a process that joins ends like
 * that before it is ready.
 */
#ifndef CONFORMANCE_RING_H
#define CONFORMANCE_RING_H

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 97 };

struct ring {
    long step;
    double table[ELEMENTS]; /* those of other processes are 0 */
};

static const char *ring_file;

static inline int ring_is(const char *what)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", ring_file, what);
    return access(path, F_OK) == 0;
}

static inline void ring_wrong(const char *what, long value)
{
    printf("WRONG: %s %ld\n", what, value);
    fflush(stdout);
    abort();
}

/* Only what is this process's stays. */
static inline void ring_keep(struct ring *ring, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < ELEMENTS; i++)
        if (i % size != rank)
            ring->table[i] = 0;
}

static inline void ring_begin(struct ring *ring, MPI_Comm comm)
{
    for (int i = 0; i < ELEMENTS; i++)
        ring->table[i] = i;
    ring_keep(ring, comm);
}

/* All elements to all processes. */
static inline void ring_gather(struct ring *ring, MPI_Comm comm)
{
    double all[ELEMENTS];
    MPI_Allreduce(ring->table, all, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(ring->table, all, sizeof all);
}

/* What process 0 has gathered before. */
static inline void ring_spread(struct ring *ring, MPI_Comm comm)
{
    MPI_Bcast(ring, (int)sizeof *ring, MPI_BYTE, 0, comm);
    ring_keep(ring, comm);
}

/* A step; 0 when the end has come, of which process 0 knows. */
static inline int ring_step(struct ring *ring, MPI_Comm comm)
{
    int rank, size, end = 0;
    double sum = 0, total, expected = ELEMENTS * (ELEMENTS - 1) / 2.0;
    long least = ring->step;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, comm);
    if (least != ring->step)
        ring_wrong("another process is at step", least);
    for (int i = rank; i < ELEMENTS; i += size)
        sum += ring->table[i]++;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (total != expected + (double)ring->step * ELEMENTS)
        ring_wrong("the sum is not right at step", ring->step);
    ring->step++;
    if (rank == 0)
        end = ring_is("");
    MPI_Bcast(&end, 1, MPI_INT, 0, comm);
    return !end;
}

static inline void ring_joins(void)
{
    if (ring_is(".kill"))
        raise(SIGKILL);
    if (ring_is(".exit"))
        exit(3);
    if (ring_is(".crash"))
        raise(SIGSEGV);
}

/* Behind a change, by process 0: what the test waits for. */
static inline void ring_changed(MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("now %d\n", size);
    fflush(stdout);
}

static inline void ring_end(MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("right at the end, %d processes\n", size);
    fflush(stdout);
}

#endif
