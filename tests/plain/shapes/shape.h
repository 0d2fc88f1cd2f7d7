/*
 * The shape of an elastic MPI program's loop, drawn from a seed: one or two loops, one after the other and then again,
 * each with a list of steps and one or two probes among them; and what a joining process does.
 */
#ifndef SHAPE_H
#define SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define STEPS_MAX 8
#define LOOPS_MAX 2

enum kind {
    STEP_PROBE,
    STEP_WORK, /* takes time, on some ranks more, and does not communicate */
    STEP_SENDRECV,
    STEP_ISEND,
    STEP_TESTED, /* as ISEND, with MPI_Testall instead of waiting */
    STEP_PERSISTENT,
    STEP_PIPELINE, /* rank by rank; the first ones run ahead */
    STEP_MATCHED,  /* the same with MPI_Mprobe */
    STEP_GATHER,   /* at rank 0, from any source */
    STEP_PAIR,     /* the first and the last rank alone */
    STEP_OVERLAP,  /* completed the next time, behind a probe or several */
    STEP_ALLREDUCE,
    STEP_BCAST,
    STEP_BARRIER,
    STEP_ALLTOALL,
    STEP_IALLREDUCE,
    STEP_IBARRIER,
    STEP_HALVES, /* allreduce among the lower, and the upper, half of the ranks */
    STEP_ROWS,   /* and among every other one */
    STEP_FENCE,
    STEP_NEIGHBOURS,
    STEP_KINDS
};

/* Happens in the iterations i with i % every == offset. */
struct step {
    enum kind kind;
    int every, offset;
    int times; /* messages, or microseconds */
};

struct loop {
    int iterations; /* of the loop, each time */
    int count;
    struct step steps[STEPS_MAX];
    bool repeats; /* a process that joined comes to the probe that the others were at, and not behind it */
};

enum after_commit { AFTER_NOTHING, AFTER_BARRIER, AFTER_ALLREDUCE, AFTER_DUP, AFTER_KINDS };

struct shape {
    int loops;
    struct loop loop[LOOPS_MAX];
    bool silent;        /* no messages in any loop */
    bool probe_first;   /* joining processes probe before begin */
    bool carries_late;  /* iteration and state are handed on after commit */
    bool rebuilds_late; /* communicators are made anew after commit, not in the window */
    bool leave_in_commit;
    const char *declared; /* $EPOP_FIRST_PROBE, or NULL */
    enum after_commit after[2];
    int most; /* ranks */
};

uint64_t shape_random(uint64_t *state);
int shape_below(uint64_t *state, int bound);
void shape_draw(struct shape *shape, uint64_t seed);
void shape_describe(const struct shape *shape, FILE *file);

/* Is it known which of its probes a joining process's first one is? Where nothing is sent EPOP can only guess. */
bool shape_is_certain(const struct shape *shape);
#endif
