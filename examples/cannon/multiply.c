/*
 * The elastic phase. One iteration adds one panel of the inner dimension to C, in `side` steps; the blocks of the next
 * step, or of the next panel's first step, travel meanwhile. An adaptation drops the panels that are done and moves
 * what is left of A and B, and C as it is, to the new grid.
 */
#include "cannon.h"

#include <cblas.h>

/* C[rows from first on] += A[these rows, inner block] * B[inner block, :] */
static void multiply_rows(const cannon_t *c, int64_t first, int64_t rows, int64_t width)
{
    int m = (int)cannon_local_rows(c), n = (int)cannon_local_cols(c);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, n, (int)width, 1.0,
                c->pipeline.now[CANNON_A] + first, m, c->pipeline.now[CANNON_B], n, 1.0, c->product + first * n, n);
}

/* Without a progress thread messages move only inside MPI calls: look after them as long as there are any. */
static void multiply_blocks(cannon_t *c, int64_t width)
{
    int64_t rows = cannon_local_rows(c);
    if (width == 0 || cannon_local_cols(c) == 0)
        return;
    for (int64_t first = 0; first < rows;) {
        int64_t count = rows - first;
        if (!cannon_pipeline_test(c) && count > c->slice)
            count = c->slice;
        multiply_rows(c, first, count, width);
        first += count;
    }
}

static int64_t inner_left(const cannon_t *c, int64_t done)
{
    return c->shared.k - done * c->shared.width;
}

int cannon_multiply_exec(void *data)
{
    cannon_t *c = data;
    double start = cannon_clock();
    int64_t first = c->shared.done, next = first + c->grid.side;
    if (!c->pipeline.posted)
        cannon_pipeline_post(c, first, 0);
    for (int step = 0; step < c->grid.side; step++) {
        cannon_pipeline_wait(c);
        if (step + 1 < c->grid.side)
            cannon_pipeline_post(c, first, step + 1);
        else if (inner_left(c, next) > 0)
            cannon_pipeline_post(c, next, 0);
        multiply_blocks(c, cannon_step_width(c, first, step));
    }
    c->shared.done = next;
    c->shared.seconds += cannon_clock() - start;
    return EPOP_OK;
}

int cannon_multiply_loop(void *data)
{
    const cannon_t *c = data;
    return inner_left(c, c->shared.done) > 0;
}

void cannon_multiply_progress(void *data, epop_progress_t *progress)
{
    const cannon_t *c = data;
    int64_t left = inner_left(c, c->shared.done), width = c->shared.width;
    progress->bound = (c->shared.k + width - 1) / width;
    progress->iteration = progress->bound - (left > 0 ? (left + width - 1) / width : 0);
}

/* What is under way on the old grid is dropped before its blocks move: their owners still have them. */
int cannon_multiply_adapt(void *data)
{
    cannon_t *c = data;
    epop_window_t window;
    double start = cannon_clock();
    int error = epop_adapt_begin(&window);
    cannon_pipeline_close(c);
    cannon_grid_close(c);
    if (error == EPOP_OK)
        error = epop_redist_described(&window, cannon_describe, c);
    if (error == EPOP_OK)
        error = epop_adapt_commit();
    if (error != EPOP_OK || window.status == EPOP_LEAVING)
        return error;
    error = cannon_rebuild(c);
    c->shared.resizes++;
    c->shared.window_seconds += cannon_clock() - start;
    return error;
}
