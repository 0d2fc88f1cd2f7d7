/*
 * How indices are dealt out to ranks (epop_dist_t, epop_dist2d_t), and which of them one rank has before and another
 * one after a redistribution. What a rank has of one dimension is a comb: equal teeth at equal distances. Where two
 * combs meet is told as runs, without a look at every index.
 */
#ifndef REDIST_DIST_H
#define REDIST_DIST_H

#include <epop/redist.h>
#include <stdbool.h>

/* ---- One dimension ------------------------------------------------------------------------------ */

/* Tooth i covers the indices first + i * period .. + width - 1; the last one only `last` of them.
 * Local index 0 is the first index of tooth 0; the teeth follow each other without gaps. */
typedef struct redist_comb {
    int64_t first, width, period;
    int64_t teeth; /* 0: owns nothing. 1: an interval, width == last */
    int64_t last;
} redist_comb;

/* The count is not negative, the kind is known and the block is at least 1. */
bool redist_dist_valid(epop_dist_t dist);
/* Cuts are for so many ranks, and rise from 0 to the count. All other distributions fit. */
bool redist_dist_fits(epop_dist_t dist, int size);
/* Each rank owns one interval, in the order of the ranks. */
bool redist_dist_is_blocks(epop_dist_t dist);

/* `times` runs of `length` indices, given by their local indices before and after. */
typedef struct redist_run {
    int64_t before, after;
    int64_t length, times;
    int64_t before_step, after_step; /* from one run to the next; meaningless when times is 1 */
} redist_run;

/* An iterator over the runs of two combs that meet, in rising order. Copying it copies its position. */
typedef struct redist_meet {
    /* The combs have teeth in common: at most two kinds of runs, known at once. */
    redist_run known[2];
    int known_count, known_next;
    /* Else the fine comb is laid over each tooth of the coarse one. */
    redist_comb coarse, fine;
    int64_t coarse_tooth, fine_tooth;
    int coarse_is_before;
} redist_meet;

/* Rank `old` of `olds` by `before`, rank `now` of `nows` by `after`; both deal out the same count. */
redist_meet redist_meet_start(epop_dist_t before, int old, int olds, epop_dist_t after, int now, int nows);
/* The next runs; 0 when there are none left. */
int redist_meet_next(redist_meet *meet, redist_run *run);
/* How many indices meet. */
int64_t redist_meet_count(epop_dist_t before, int old, int olds, epop_dist_t after, int now, int nows);

/* ---- Two dimensions ----------------------------------------------------------------------------- */

/* A cursor walks over the elements that one rank owns before and another one after, in an order that both ranks know,
 * and says for each where it lies in the old block and where in the new one. The elements that travel between two
 * ranks, and those that a rank keeps, are such a walk. */

/* Which block a position is in: the old one, or the new one. */
typedef enum redist_side { REDIST_BEFORE = 0, REDIST_AFTER = 1 } redist_side;

/* On one side a piece is `times` runs, `step` apart, of `length` elements, `unit` apart. All counted in elements. */
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
    bool even;     /* it is runs at one distance, which is also that from the last run of a line to the next line */
    redist_strides strides[2];
} redist_cursor;

/* Rank `old` of `before` (-1: none) to rank `now` of `after`. Both deal out the same matrix. */
redist_cursor redist_cursor_start(const epop_dist2d_t *before, int old, const epop_dist2d_t *after, int now);
/* The next elements, at most `most` >= 1. 0 at the end. */
int redist_cursor_take(redist_cursor *cursor, int64_t most, redist_piece *piece);
/* At the start of a walk: all of it lies in one run without gaps, before and after. */
int redist_cursor_is_one_run(const redist_cursor *cursor);

#endif
