/* The parts of the ranks of a window in a redistribution. */
#include "runtime/redist/plan.h"

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

int64_t redist_plan_local(const redist_plan *plan, redist_side side)
{
    int64_t rows, cols;
    if (side == REDIST_BEFORE)
        epop_dist2d_local(&plan->before, redist_old_rank(plan->window, plan->me), &rows, &cols);
    else
        epop_dist2d_local(&plan->after, redist_new_rank(plan->window, plan->me), &rows, &cols);
    return rows * cols;
}

int redist_plan_in_place(const redist_plan *plan)
{
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    if (own.total != redist_plan_local(plan, REDIST_BEFORE) || own.total != redist_plan_local(plan, REDIST_AFTER))
        return 0;
    if (own.total == 0)
        return 1;
    /* The same elements in rising order on both sides: only the storage order could still differ. */
    return own.strides[REDIST_BEFORE].slow == own.strides[REDIST_AFTER].slow &&
           own.strides[REDIST_BEFORE].fast == own.strides[REDIST_AFTER].fast;
}
