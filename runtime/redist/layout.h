/*
 * How the cells of an N-dimensional array are dealt out: in blocks on a grid, or plainly, one stretch per rank in
 * row-major order, as files have them. And a walk over the cells that one rank has before and another one after. The
 * cells are the global indices and, in dimensions that are not periodic, the layers of the boundary around them;
 * each belongs to one rank.
 */
#ifndef REDIST_LAYOUT_H
#define REDIST_LAYOUT_H

#include <stdbool.h>

#include "epop/blocks.h"
#include "runtime/redist/agree.h"
#include "runtime/redist/dist.h"

struct redist_layout {
    epop_blocks_t blocks;
    int size;
    bool plain;
    /* Blocks that were found right: */
    int grid[EPOP_BLOCKS_DIMS];
    int64_t extent[EPOP_BLOCKS_DIMS], total; /* cells */
};

/* A rank's cells: of the box those whose row-major number is in [from, to). Cell x is at + sum(x[i] * stride[i]) in the
 * local array. */
struct redist_part {
    int64_t first[EPOP_BLOCKS_DIMS], count[EPOP_BLOCKS_DIMS];
    int64_t from, to;
    int64_t at, stride[EPOP_BLOCKS_DIMS];
    int64_t elements; /* of the local array, ghosts included */
};

/* Dimensions, counts, ghosts and grid by themselves; NULL is a fault, too. */
redist_fault redist_blocks_valid(const epop_blocks_t *blocks);
/* `blocks` on `size` ranks. Not whether the ghosts fit. */
redist_fault redist_layout_of_blocks(struct redist_layout *layout, const epop_blocks_t *blocks, int size);
/* The same cells in row-major order, on `size` ranks. */
void redist_layout_plain(struct redist_layout *layout, const struct redist_layout *of, int size);
/* Rank -1 has none, nor have those beyond the grid. */
struct redist_part redist_layout_part(const struct redist_layout *layout, int rank);
/* Does every rank have consecutive cells in row-major order, and without gaps in its array? */
bool redist_layout_consecutive(const struct redist_layout *layout);
/* Cells of a rank. */
int64_t redist_layout_cells(const struct redist_layout *layout, int rank);
/* Have all neighbours as many indices as there are ghosts? */
redist_fault redist_layout_ghosts(const struct redist_layout *layout);
/* Both sides of a window, of the same cells, with ghosts that fit after it. */
redist_fault redist_layouts_of(struct redist_layout layouts[2], const epop_window_t *window,
                               const epop_blocks_t *before, const epop_blocks_t *after);
/* What has to be the same on every rank. */
void redist_terms_of_blocks(redist_terms *terms, const epop_blocks_t *blocks);

/* Processes of dimension i that have indices. */
int redist_layout_holders(const struct redist_layout *layout, int i);
/* Where a rank stands in the grid; false: nowhere. */
bool redist_layout_place(const struct redist_layout *layout, int rank, int place[EPOP_BLOCKS_DIMS]);

/* ---- Walks over cells --------------------------------------------------------------------------- */

/* A walk over cells in row-major order, which says for each where it lies in the old array and where in the new one, as
 * redist_cursor does for matrices. Copying it copies the position. Dimensions that lie one after the other on both
 * sides are one here. */
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
