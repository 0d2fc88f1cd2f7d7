/*
 * The elastic phase. One iteration adds one panel of the inner dimension to C, in `side` steps; the blocks of the next
 * step, or of the next panel's first step, travel meanwhile. An adaptation drops the panels that are done and moves
 * what is left of A and B, and C as it is, to the new grid.
 */
#include "cannon.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_ROWS 256 /* rows of C between two looks at the messages under way */

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
        if (!cannon_pipeline_test(c) && count > SLICE_ROWS)
            count = SLICE_ROWS;
        multiply_rows(c, first, count, width);
        first += count;
    }
}

static int64_t inner_left(const cannon_t *c, int64_t panel)
{
    return c->shared.k - c->shared.base - panel * c->grid.side * c->shared.width;
}

int cannon_multiply_exec(void *data)
{
    cannon_t *c = data;
    double start = cannon_clock();
    int64_t panel = c->shared.panel;
    if (!c->pipeline.posted)
        cannon_pipeline_post(c, panel, 0);
    for (int step = 0; step < c->grid.side; step++) {
        cannon_pipeline_wait(c);
        if (step + 1 < c->grid.side)
            cannon_pipeline_post(c, panel, step + 1);
        else if (inner_left(c, panel + 1) > 0)
            cannon_pipeline_post(c, panel + 1, 0);
        multiply_blocks(c, cannon_step_width(c, panel, step));
    }
    c->shared.panel++;
    c->shared.seconds += cannon_clock() - start;
    return EPOP_OK;
}

int cannon_multiply_loop(void *data)
{
    const cannon_t *c = data;
    return inner_left(c, c->shared.panel) > 0;
}

void cannon_multiply_progress(void *data, epop_progress_t *progress)
{
    const cannon_t *c = data;
    int64_t left = inner_left(c, c->shared.panel), width = c->shared.width;
    progress->bound = (c->shared.k + width - 1) / width;
    progress->iteration = progress->bound - (left > 0 ? (left + width - 1) / width : 0);
}

/* Gives the part of a local block back whose panels are done: its first `done` elements of `count`. */
static void drop_front(double **local, int64_t done, int64_t count)
{
    if (done == 0)
        return;
    memmove(*local, *local + done, (size_t)(count - done) * sizeof(double));
    if (count > done) {
        double *smaller = realloc(*local, (size_t)(count - done) * sizeof(double));
        *local = smaller ? smaller : *local;
    } else {
        free(*local);
        *local = NULL;
    }
}

static void count_elements(const cannon_t *c, int64_t counts[2])
{
    epop_dist2d_t layouts[2] = {cannon_layout_a(c, c->grid.side), cannon_layout_b(c, c->grid.side)};
    for (int matrix = 0; matrix < 2; matrix++) {
        int64_t rows, cols;
        epop_dist2d_local(&layouts[matrix], c->grid.row * c->grid.side + c->grid.col, &rows, &cols);
        counts[matrix] = rows * cols;
    }
}

static void drop_done_panels(cannon_t *c)
{
    int64_t before[2], after[2];
    count_elements(c, before);
    c->shared.base += c->shared.panel * c->grid.side * c->shared.width;
    c->shared.panel = 0;
    count_elements(c, after);
    for (int matrix = 0; matrix < 2; matrix++)
        drop_front(&c->stored[matrix], before[matrix] - after[matrix], before[matrix]);
}

static int move_matrices(cannon_t *c, const epop_window_t *window)
{
    int before = cannon_side(window->old_size), after = cannon_side(window->new_size);
    epop_dist2d_t (*const layouts[3])(const cannon_t *, int) = {cannon_layout_a, cannon_layout_b, cannon_layout_c};
    double **locals[3] = {&c->stored[CANNON_A], &c->stored[CANNON_B], &c->product};
    for (int i = 0; i < 3; i++) {
        epop_dist2d_t old_layout = layouts[i](c, before), new_layout = layouts[i](c, after);
        void *local = *locals[i];
        int error = epop_redist2d(window, &old_layout, &new_layout, MPI_DOUBLE, &local);
        *locals[i] = local;
        if (error != EPOP_OK)
            return error;
    }
    return EPOP_OK;
}

int cannon_multiply_adapt(void *data)
{
    cannon_t *c = data;
    epop_window_t window;
    double start = cannon_clock();
    int error = epop_adapt_begin(&window);
    if (error != EPOP_OK)
        return error;
    if (window.status != EPOP_JOINING) {
        cannon_pipeline_close(c);
        drop_done_panels(c);
        cannon_grid_close(c);
    }
    error = epop_redist_replicated(&window, &c->shared, sizeof(c->shared), MPI_BYTE);
    if (error == EPOP_OK)
        error = epop_redist_replicated(&window, c->run_seconds, c->shared.runs, MPI_DOUBLE);
    if (error == EPOP_OK)
        error = move_matrices(c, &window);
    if (error == EPOP_OK)
        error = epop_adapt_commit();
    if (error != EPOP_OK)
        return error;
    if (window.status == EPOP_LEAVING) {
        cannon_free(c);
        return EPOP_OK;
    }
    cannon_grid_open(c, epop_world());
    error = cannon_pipeline_open(c);
    c->shared.resizes++;
    c->shared.window_seconds += cannon_clock() - start;
    return error;
}
