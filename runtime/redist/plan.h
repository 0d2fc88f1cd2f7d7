/*
 * A redistribution of one window: the distributions before and after, and the part of each rank in them.
 */
#ifndef REDIST_PLAN_H
#define REDIST_PLAN_H

#include <stdbool.h>

#include "runtime/redist/boxes.h"
#include "runtime/redist/lists.h"

typedef struct redist_plan {
    const epop_window_t *window;
    epop_dist2d_t before, after;
    int me, size;                        /* in window->all */
    const struct redist_layout *layouts; /* of blocks, by redist_side; NULL: a matrix, as above */
    const redist_lists *lists;           /* of single elements; NULL: a rule */
} redist_plan;

void redist_plan_matrix(redist_plan *plan, const epop_window_t *window, const epop_dist2d_t *before,
                        const epop_dist2d_t *after);
/* A one-dimensional array is a matrix of one row. */
void redist_plan_one_row(redist_plan *plan, const epop_window_t *window, epop_dist_t before, epop_dist_t after);

/* Both layouts of the same cells; they stay the caller's. */
void redist_plan_blocks(redist_plan *plan, const epop_window_t *window, const struct redist_layout layouts[2]);

/* How many ranks window->all has, and the old and new rank of one of them; -1: none. */
int redist_all_size(const epop_window_t *window);
int redist_old_rank(const epop_window_t *window, int rank);
int redist_new_rank(const epop_window_t *window, int rank);

/* The elements that go from one rank of window->all to another: of a matrix, and of blocks. */
redist_cursor redist_plan_cursor(const redist_plan *plan, int from, int to);
struct redist_boxes redist_plan_boxes(const redist_plan *plan, int from, int to);
/* Elements that this rank owns on one side: of a matrix its local block. */
int64_t redist_plan_local(const redist_plan *plan, redist_side side);
/* Non-zero if this rank's new block is its old one, element by element. */
int redist_plan_in_place(const redist_plan *plan);
/* This rank's new block is a part of its old one, in the same order: each element goes to its place or further down. */
bool redist_plan_shrinks(const redist_plan *plan);
/* Its old block is how its new one begins. */
bool redist_plan_extends(const redist_plan *plan);

#endif
