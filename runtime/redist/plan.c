/* The parts of the ranks of a window in a redistribution. */
#include "runtime/redist/plan.h"

#include <string.h>

/* The joining ranks stand behind the old ones in window->all. */
static int joiner_rank(const epop_window_t *window)
{
    int rank = window->old_size;
    while (rank < redist_all_size(window) - 1 && window->new_ranks[rank] != window->new_rank)
        rank++;
    return rank;
}

static epop_dist2d_t one_row(epop_dist_t dist, int size)
{
    return (epop_dist2d_t){.rows = epop_dist_block(1), .cols = dist, .grid_rows = 1, .grid_cols = size};
}

void redist_plan_matrix(redist_plan *plan, const epop_window_t *window, const epop_dist2d_t *before,
                        const epop_dist2d_t *after)
{
    *plan = (redist_plan){.window = window, .before = *before, .after = *after, .size = redist_all_size(window)};
    plan->me = window->old_rank >= 0 ? window->old_rank : joiner_rank(window);
}

void redist_plan_one_row(redist_plan *plan, const epop_window_t *window, epop_dist_t before, epop_dist_t after)
{
    epop_dist2d_t old = one_row(before, window->old_size), new = one_row(after, window->new_size);
    redist_plan_matrix(plan, window, &old, &new);
}

void redist_plan_blocks(redist_plan *plan, const epop_window_t *window, const struct redist_layout layouts[2])
{
    const epop_dist2d_t none = {.grid_rows = 1, .grid_cols = 1};
    redist_plan_matrix(plan, window, &none, &none);
    plan->layouts = layouts;
}

int redist_all_size(const epop_window_t *window)
{
    return window->old_size + window->joining;
}

int redist_old_rank(const epop_window_t *window, int rank)
{
    return rank < window->old_size ? rank : -1;
}

int redist_new_rank(const epop_window_t *window, int rank)
{
    return window->new_ranks[rank];
}

redist_cursor redist_plan_cursor(const redist_plan *plan, int from, int to)
{
    return redist_cursor_start(&plan->before, redist_old_rank(plan->window, from), &plan->after,
                               redist_new_rank(plan->window, to));
}

static int my_rank(const redist_plan *plan, redist_side side)
{
    return side == REDIST_BEFORE ? redist_old_rank(plan->window, plan->me) : redist_new_rank(plan->window, plan->me);
}

struct redist_boxes redist_plan_boxes(const redist_plan *plan, int from, int to)
{
    const struct redist_layout *layouts = plan->layouts;
    struct redist_part old = redist_layout_part(&layouts[REDIST_BEFORE], redist_old_rank(plan->window, from));
    struct redist_part new = redist_layout_part(&layouts[REDIST_AFTER], redist_new_rank(plan->window, to));
    return redist_boxes_start(layouts->blocks.dims, layouts->extent, &old, &new);
}

int64_t redist_plan_local(const redist_plan *plan, redist_side side)
{
    if (plan->layouts)
        return redist_layout_cells(&plan->layouts[side], my_rank(plan, side));
    if (plan->lists)
        return plan->lists->starts[side][plan->size];
    int64_t rows, cols;
    if (side == REDIST_BEFORE)
        epop_dist2d_local(&plan->before, redist_old_rank(plan->window, plan->me), &rows, &cols);
    else
        epop_dist2d_local(&plan->after, redist_new_rank(plan->window, plan->me), &rows, &cols);
    return rows * cols;
}

/* The same cells of the same places. */
static int blocks_in_place(const redist_plan *plan)
{
    struct redist_part parts[2];
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        parts[side] = redist_layout_part(&plan->layouts[side], my_rank(plan, side));
    return !memcmp(&parts[REDIST_BEFORE], &parts[REDIST_AFTER], sizeof parts[REDIST_BEFORE]);
}

/* By lists all that stays is in one group, of the same order on both sides: it is in place if it is all there is. */
static int lists_in_place(const redist_plan *plan)
{
    const int64_t *before = plan->lists->starts[REDIST_BEFORE], *after = plan->lists->starts[REDIST_AFTER];
    int64_t own = before[plan->me + 1] - before[plan->me];
    return own == before[plan->size] && own == after[plan->size];
}

int redist_plan_in_place(const redist_plan *plan)
{
    if (plan->layouts)
        return blocks_in_place(plan);
    if (plan->lists)
        return lists_in_place(plan);
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    if (own.total != redist_plan_local(plan, REDIST_BEFORE) || own.total != redist_plan_local(plan, REDIST_AFTER))
        return 0;
    if (own.total == 0)
        return 1;
    /* The same elements in rising order on both sides: only the storage order could still differ. */
    return own.strides[REDIST_BEFORE].slow == own.strides[REDIST_AFTER].slow &&
           own.strides[REDIST_BEFORE].fast == own.strides[REDIST_AFTER].fast;
}

bool redist_plan_shrinks(const redist_plan *plan)
{
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    return own.total > 0 && own.total == redist_plan_local(plan, REDIST_AFTER) && own.strides[REDIST_AFTER].fast == 1;
}

bool redist_plan_extends(const redist_plan *plan)
{
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    redist_piece piece;
    if (own.total == 0 || own.total != redist_plan_local(plan, REDIST_BEFORE) || !redist_cursor_is_one_run(&own))
        return false;
    return redist_cursor_take(&own, own.total, &piece) && piece.on[REDIST_AFTER].at == 0;
}
