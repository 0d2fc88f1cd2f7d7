/*
 * Times: of the iterations and stages at each size, and of resizes. Each rank keeps those of its own iterations. When a
 * size or a phase ends they become one for all ranks, and from these a row of figures. At the end there is a table; a
 * file has every single time.
 */
#ifndef SYNTHETIC_TIMES_H
#define SYNTHETIC_TIMES_H

#include "task.h"

enum { TIMED = 100000 }; /* iterations at one size in one phase, of which times are kept */

/* This rank's, since the size or phase began; all zero at first. */
struct times {
    double *seconds; /* of each iteration: of itself, and of each stage */
    int64_t room, timed, passed, meanwhile;
};

/* What became of them: the same on every rank, without padding. */
struct row {
    int64_t phase, stage, ranks, iterations, meanwhile; /* stage -1: the iteration */
    double mean, median, least, most;
};

/* A resize. What is not known is NAN. */
struct change {
    int64_t from, to, joined, asked, happened; /* asked -1: not by the program; happened: when so many were done */
    double spawn;                              /* from the request until the last process that joins has run INIT */
    double moved;                              /* data, in the window */
    double stood; /* the ranks, from the end of the last iteration to the beginning of the next one */
    double whole; /* from the request to that beginning */
};

/* An iteration that took so long, and its stages; `meanwhile`: while a resize was pending. 0 or EPOP_ERR_MEMORY. */
int times_add(struct times *t, const struct task *task, const struct phase *phase, const double *seconds,
              bool meanwhile);

/* Adds rows for what was timed, and forgets it. `done` iterations have been run. Collective over epop_world(). 0 or an
 * EPOP_ERR_. */
int times_collect(struct times *t, const struct task *task, int phase, int64_t done, struct row **rows, int64_t *count);

/* On rank 0: makes the file, and prints the table, and what the file has of resizes. 0 or EPOP_ERR_SYSTEM. Local. */
int times_begin(const struct task *task);
int times_end(const struct task *task, const struct row *rows, int64_t row_count, const struct change *changes,
              int64_t change_count, double seconds);

#endif
