/*
 * Walks the cells that one rank has before and another after, in row-major order, and says for each where it lies in
 * the old array and where in the new one: what the cursor is for matrices.
 */
#ifndef REDIST_BOXES_H
#define REDIST_BOXES_H

#include "runtime/redist/cursor.h"
#include "runtime/redist/layout.h"

/* A walk; copying it copies the position. Dimensions that lie behind each other on both sides are one here. */
struct redist_boxes {
    int64_t left; /* cells still to come */
    int dims;     /* at least 1 */
    int64_t length[EPOP_BLOCKS_DIMS], index[EPOP_BLOCKS_DIMS];
    int64_t at[2], stride[2][EPOP_BLOCKS_DIMS]; /* by redist_side */
};

/* The cells that both parts have, of `dims` dimensions of `extent` cells. */
struct redist_boxes redist_boxes_start(int dims, const int64_t *extent, const struct redist_part *before,
                                       const struct redist_part *after);
/* The cells of one rank: where each lies in its array (before), and its row-major number (after). */
struct redist_boxes redist_layout_numbered(const struct redist_layout *layout, int rank);
/* A box of an array by itself, the same on both sides: element x is at + sum(x[i] * stride[i]), 0 <= x[i] < count[i].
 */
struct redist_boxes redist_boxes_of_array(int dims, int64_t at, const int64_t *stride, const int64_t *count);
/* The next cells, at most `most` >= 1. 0 at the end. */
int redist_boxes_take(struct redist_boxes *boxes, int64_t most, redist_piece *piece);
/* Element number `i` of run number `time` of a piece. */
static inline int64_t redist_place_of(const redist_piece *piece, redist_side side, int64_t time, int64_t i)
{
    return piece->on[side].at + time * piece->on[side].step + i * piece->on[side].unit;
}
/* At the start of a walk: all of it lies in one run without gaps, before and after. */
int redist_boxes_is_one_run(const struct redist_boxes *boxes);

#endif
