/*
 * The blocks of A and B that travel while others are multiplied. In step 0 of a panel rank (i, j) needs the inner block
 * (i + j) % side, which comes straight from its owner (the skew of Cannon's algorithm); in each further step A moves
 * one column to the left and B one row up. Blocks are received into one of two buffers while the other one is in use.
 * A block keeps its true width: zero-width blocks and uneven rows and columns are the padding.
 */
#include "cannon.h"

#include <sched.h>
#include <stdlib.h>

static int64_t local_line(const cannon_t *c, int matrix)
{
    return matrix == CANNON_A ? cannon_local_rows(c) : cannon_local_cols(c);
}

int cannon_pipeline_open(cannon_t *c)
{
    cannon_pipeline_t *p = &c->pipeline;
    *p = (cannon_pipeline_t){.open = 1};
    int error = EPOP_OK;
    for (int matrix = 0; matrix < 2; matrix++) {
        int64_t line = local_line(c, matrix);
        MPI_Type_contiguous((int)line, MPI_DOUBLE, &p->line[matrix]);
        MPI_Type_commit(&p->line[matrix]);
        for (int turn = 0; turn < 2 && c->grid.side > 1; turn++) {
            size_t bytes = (size_t)(c->shared.width * line) * sizeof(double);
            p->buffers[matrix][turn] = malloc(bytes ? bytes : 1);
            if (!p->buffers[matrix][turn])
                error = EPOP_ERR_MEMORY;
        }
    }
    return error;
}

void cannon_pipeline_close(cannon_t *c)
{
    cannon_pipeline_t *p = &c->pipeline;
    if (!p->open)
        return;
    cannon_pipeline_wait(c);
    for (int matrix = 0; matrix < 2; matrix++) {
        free(p->buffers[matrix][0]);
        free(p->buffers[matrix][1]);
        MPI_Type_free(&p->line[matrix]);
    }
    *p = (cannon_pipeline_t){0};
}

/* The inner block that grid column `owner` of A, or row of B, has in the panel that begins with block `first`. */
static int64_t block_of(const cannon_t *c, int64_t first, int owner)
{
    int side = c->grid.side;
    return first + (owner + side - first % side) % side;
}

static int64_t block_width(const cannon_t *c, int64_t first, int owner)
{
    int64_t width = c->shared.width, left = c->shared.k - block_of(c, first, owner) * width;
    return left < 0 ? 0 : left > width ? width : left;
}

int64_t cannon_step_width(const cannon_t *c, int64_t first, int step)
{
    return block_width(c, first, (c->grid.row + c->grid.col + step) % c->grid.side);
}

static const double *stored_block(const cannon_t *c, int matrix, int64_t first, int owner)
{
    int64_t before = block_of(c, first, owner) / c->grid.side; /* the owner's blocks that come before it */
    return block_width(c, first, owner) == 0 ? c->stored[matrix]
                                             : c->stored[matrix] + before * c->shared.width * local_line(c, matrix);
}

static void post_one(cannon_t *c, int matrix, int64_t first, int step)
{
    const cannon_grid_t *grid = &c->grid;
    cannon_pipeline_t *p = &c->pipeline;
    int own = matrix == CANNON_A ? grid->col : grid->row;
    int skew = matrix == CANNON_A ? grid->row : grid->col;
    int distance = step == 0 ? skew : 1;
    int leaving = step == 0 ? own : (own + skew + step - 1) % grid->side;
    const double *from = step == 0 ? stored_block(c, matrix, first, own) : p->now[matrix];

    p->next[matrix] = from;
    if (distance == 0)
        return;
    int source, target;
    double *into = p->buffers[matrix][p->turn];
    MPI_Cart_shift(grid->comm, matrix == CANNON_A ? 1 : 0, -distance, &source, &target);
    MPI_Irecv(into, (int)cannon_step_width(c, first, step), p->line[matrix], source, matrix, grid->comm,
              &p->requests[p->pending++]);
    MPI_Isend(from, (int)block_width(c, first, leaving), p->line[matrix], target, matrix, grid->comm,
              &p->requests[p->pending++]);
    p->next[matrix] = into;
}

void cannon_pipeline_post(cannon_t *c, int64_t first, int step)
{
    post_one(c, CANNON_A, first, step);
    post_one(c, CANNON_B, first, step);
    c->pipeline.turn ^= 1;
    c->pipeline.posted = 1;
}

int cannon_pipeline_test(cannon_t *c)
{
    cannon_pipeline_t *p = &c->pipeline;
    MPI_Status statuses[4]; /* gcc warns of MPI_STATUSES_IGNORE */
    int done = 1;
    if (p->pending > 0)
        MPI_Testall(p->pending, p->requests, &done, statuses);
    if (done)
        p->pending = 0;
    return done;
}

/* Gives the core away while it waits: with more ranks than cores, a spinning wait takes it from the rank waited for. */
void cannon_pipeline_wait(cannon_t *c)
{
    cannon_pipeline_t *p = &c->pipeline;
    while (!cannon_pipeline_test(c))
        sched_yield();
    p->now[CANNON_A] = p->next[CANNON_A];
    p->now[CANNON_B] = p->next[CANNON_B];
    p->posted = 0;
}
