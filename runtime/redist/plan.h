/*
 * A redistribution of one window: the distributions before and after, and the part of each rank in them.
 */
#ifndef REDIST_PLAN_H
#define REDIST_PLAN_H

#include "runtime/redist/cursor.h"

typedef struct redist_plan {
    const epop_window_t *window;
    epop_dist2d_t before, after;
    int me, size; /* in window->all */
} redist_plan;

void redist_plan_matrix(redist_plan *plan, const epop_window_t *window, const epop_dist2d_t *before,
                        const epop_dist2d_t *after);
/* A one-dimensional array is a matrix of one row. */
void redist_plan_one_row(redist_plan *plan, const epop_window_t *window, epop_dist_t before, epop_dist_t after);

/* How many ranks window->all has, and the old and new rank of one of them; -1: none. */
int redist_all_size(const epop_window_t *window);
int redist_old_rank(const epop_window_t *window, int rank);
int redist_new_rank(const epop_window_t *window, int rank);

/* The elements that go from one rank of window->all to another. */
redist_cursor redist_plan_cursor(const redist_plan *plan, int from, int to);
/* Elements in the local block of this rank on one side. */
int64_t redist_plan_local(const redist_plan *plan, redist_side side);
/* Non-zero if this rank's new block is its old one, element by element. */
int redist_plan_in_place(const redist_plan *plan);

#endif
