/*
 * What one rank owns of one dimension, as a comb: equal teeth at equal distances. And the meeting of two
 * combs, which is what one rank owns before and another owns after, as runs, without a look at every index.
 */
#ifndef REDIST_COMB_H
#define REDIST_COMB_H

#include <epop/redist.h>
#include <stdbool.h>

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
/* Indices per block of a cyclic or block-cyclic distribution, at most its count. */
int64_t redist_dist_width(epop_dist_t dist);
redist_comb redist_comb_of(epop_dist_t dist, int rank, int size);
/* Indices in the comb. */
int64_t redist_comb_count(const redist_comb *comb);

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
    /* Else every tooth of the coarse comb is combed through with the fine one. */
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

#endif
