/*
 * Walks the elements that one rank owns before and another owns after, in one order that both ranks know,
 * and says for each where it lies in the old block and where in the new one. The stream of elements between
 * two ranks, and what a rank keeps for itself, is such a walk.
 */
#ifndef REDIST_CURSOR_H
#define REDIST_CURSOR_H

#include "runtime/redist/comb.h"

/* Which block: positions in the old one, or in the new one. */
typedef enum redist_side { REDIST_BEFORE = 0, REDIST_AFTER = 1 } redist_side;

/* On one side: `times` runs, `step` apart, of `length` elements, `unit` apart. In elements. */
typedef struct redist_place {
    int64_t at, unit, step;
} redist_place;

typedef struct redist_piece {
    int64_t length, times;
    redist_place on[2]; /* by redist_side */
} redist_piece;

/* How far apart neighbours of the slow and of the fast dimension lie in a local block. */
typedef struct redist_strides {
    int64_t slow, fast;
} redist_strides;

/* A walk; copying it copies the position. */
typedef struct redist_cursor {
    int64_t left;           /* elements still to come */
    int64_t total;          /* elements in all */
    redist_meet slow, fast; /* what follows the present runs */
    redist_meet fast_start; /* for the next index of the slow dimension */
    redist_run row, run;    /* the present runs */
    int64_t row_time, row_at, run_time, run_at;
    int64_t scale; /* elements per index of the fast dimension */
    int one_run;   /* the fast dimension is a single run */
    redist_strides strides[2];
} redist_cursor;

/* Rank `old` of `before` (-1: none) to rank `now` of `after`. Both deal out the same matrix. */
redist_cursor redist_cursor_start(const epop_dist2d_t *before, int old, const epop_dist2d_t *after, int now);
/* The next elements, at most `most` >= 1. 0 at the end. */
int redist_cursor_take(redist_cursor *cursor, int64_t most, redist_piece *piece);
/* At the start of a walk: all of it lies in one run without gaps, before and after. */
int redist_cursor_is_one_run(const redist_cursor *cursor);

#endif
