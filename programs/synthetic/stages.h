/*
 * What the stages of an iteration do: sleep, compute, communicate. Computing is measured once, on the first rank of the
 * job, in processor time; communication in each world by itself, as an operation takes as long as its ranks say.
 */
#ifndef SYNTHETIC_STAGES_H
#define SYNTHETIC_STAGES_H

#include "task.h"

/* What this process needs for them in the present world; all zero at first. */
struct stages {
    int rank, size; /* size 0: it is not open */
    char *out, *in; /* of the largest message */
    int *counts, *starts;
    double *matrix;           /* of the largest edge */
    double operation[STAGES]; /* seconds of one, where it communicates */
    double due;               /* when the iteration of a phase that only sleeps is over; 0: none was before it */
};

/* Seconds, for this process alone, and by the clock of the host, which others can be compared with. */
double stages_now(void);
double stages_host_clock(void);
void stages_sleep_until(double when);

/* Measures what computes. 0 or EPOP_ERR_MEMORY with a line. Local. */
int stages_measure(struct task *task);

/* In a world in which they did not run yet. Collective over epop_world(). 0 or an EPOP_ERR_. */
int stages_open(struct stages *s, const struct task *task);

/* The world is another one, or will be. Local. */
void stages_close(struct stages *s);

/* One stage of an iteration; on the rank that is the last one to come, if a stage sleeps. Collective if it
 * communicates. An EPOP_ERR_ or of MPI. */
int stages_run(struct stages *s, const struct task *task, const struct phase *phase, const struct stage *stage,
               double factor, bool last);

#endif
