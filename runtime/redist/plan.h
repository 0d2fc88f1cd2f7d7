/*
 * What goes from which rank to which in one window: by distributions of a matrix, by blocks, or by lists of single
 * elements; before and after, and this rank's part of it.
 */
#ifndef REDIST_PLAN_H
#define REDIST_PLAN_H

#include <stdbool.h>

#include "runtime/redist/agree.h"
#include "runtime/redist/dist.h"
#include "runtime/redist/element.h"
#include "runtime/redist/layout.h"

/* ---- Lists of single elements ------------------------------------------------------------------- */

/* Elements may go anywhere: not by a rule that every rank can work out, but each to a rank of its own. Grouped by rank
 * they are streams like those of a distribution, and the exchange moves both. */

typedef struct redist_lists {
    int64_t *starts[2]; /* by redist_side: where the group of each rank of window->all starts; and the end */
    int64_t *at[2];     /* positions in the local block, group after group; NULL: 0, 1, 2, ... */
} redist_lists;

/*
 * One side of the lists: element i of this rank's block goes to, or comes from, rank peers[i] of window->all. In each
 * group positions rise. Both sides are needed, and an order in the groups that is the same on both ranks. Local.
 */
redist_fault redist_lists_group(redist_lists *lists, redist_side side, int ranks, const int *peers, int64_t count);

/*
 * The other side of what is grouped for sending, where it is not known: new blocks are what the ranks send, one after
 * the other. Collective over window->all, whose ranks have all agreed to go on.
 */
redist_fault redist_lists_hear(redist_lists *lists, const epop_window_t *window);

void redist_lists_free(redist_lists *lists);

/* ---- The plan ----------------------------------------------------------------------------------- */

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

/* ---- Arguments ---------------------------------------------------------------------------------- */

/* Are distributions and grids right, and is it the same matrix before and after? Local. */
redist_fault redist_check_plan(const redist_plan *plan);

/* What must be the same on every rank. */
void redist_terms_of_dist(redist_terms *terms, epop_dist_t dist);
void redist_terms_of_matrix(redist_terms *terms, const epop_dist2d_t *dist);
void redist_terms_of_element(redist_terms *terms, const redist_element *element);

#endif
