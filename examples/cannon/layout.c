/*
 * How the matrices lie on the grid, and how they get there. Rows of A and C and columns of B and C are dealt out in
 * blocks. The inner dimension is dealt out block-cyclically, `width` indices at a time, so that every rank owns
 * one block of every panel, on every grid. A layout leaves the grid open (0 x 0): it is as square as the world.
 */
#include "cannon.h"

#include <stdlib.h>
#include <string.h>

static epop_dist_t inner_dist(const cannon_t *c)
{
    return epop_dist_block_cyclic(c->shared.k, c->shared.width);
}

epop_dist2d_t cannon_layout_a(const cannon_t *c)
{
    return (epop_dist2d_t){.rows = epop_dist_block(c->shared.m), .cols = inner_dist(c), .column_major = 1};
}

epop_dist2d_t cannon_layout_b(const cannon_t *c)
{
    return (epop_dist2d_t){.rows = inner_dist(c), .cols = epop_dist_block(c->shared.n)};
}

epop_dist2d_t cannon_layout_c(const cannon_t *c)
{
    return (epop_dist2d_t){.rows = epop_dist_block(c->shared.m), .cols = epop_dist_block(c->shared.n)};
}

static int square_root(int size)
{
    int side = 1;
    while ((side + 1) * (side + 1) <= size)
        side++;
    return side;
}

int64_t cannon_local_rows(const cannon_t *c)
{
    return epop_dist_local_count(epop_dist_block(c->shared.m), c->grid.row, c->grid.side);
}

int64_t cannon_local_cols(const cannon_t *c)
{
    return epop_dist_local_count(epop_dist_block(c->shared.n), c->grid.col, c->grid.side);
}

/* The first of the indices that part `part` owns; 0 if it owns none. */
static int64_t first_index(int64_t count, int part, int parts)
{
    epop_dist_t dist = epop_dist_block(count);
    return epop_dist_local_count(dist, part, parts) > 0 ? epop_dist_global(dist, part, parts, 0) : 0;
}

npy_block_t cannon_local_block(const cannon_t *c)
{
    return (npy_block_t){first_index(c->shared.m, c->grid.row, c->grid.side), cannon_local_rows(c),
                         first_index(c->shared.n, c->grid.col, c->grid.side), cannon_local_cols(c)};
}

/* The grid over world. Collective. */
static void cannon_grid_open(cannon_t *c, MPI_Comm world)
{
    int size, rank, periods[2] = {1, 1}, place[2];
    MPI_Comm_size(world, &size);
    MPI_Comm_rank(world, &rank);
    int side = square_root(size), extents[2] = {side, side};
    MPI_Cart_create(world, 2, extents, periods, 0, &c->grid.comm);
    MPI_Cart_coords(c->grid.comm, rank, 2, place);
    c->grid.side = side;
    c->grid.row = place[0];
    c->grid.col = place[1];
}

void cannon_grid_close(cannon_t *c)
{
    if (c->grid.comm != MPI_COMM_NULL)
        MPI_Comm_free(&c->grid.comm);
}

void cannon_blocks_free(cannon_t *c)
{
    free(c->stored[CANNON_A]);
    free(c->stored[CANNON_B]);
    free(c->product);
    c->stored[CANNON_A] = c->stored[CANNON_B] = c->product = NULL;
}

/* A local block, NULL where it is empty (which is no error). */
static double *allocate_local(const cannon_t *c, epop_dist2d_t layout, int *error)
{
    int64_t rows, cols;
    layout.grid_rows = layout.grid_cols = c->grid.side;
    epop_dist2d_local(&layout, c->grid.row * c->grid.side + c->grid.col, &rows, &cols);
    if (rows == 0 || cols == 0)
        return NULL;
    double *local = malloc((size_t)rows * (size_t)cols * sizeof(*local));
    if (!local)
        *error = EPOP_ERR_MEMORY;
    return local;
}

/* Away from its allocation, which a compiler would merge with it into calloc: the pages are to be touched now, and not
 * in the multiplication. */
static void clear_product(cannon_t *c)
{
    if (c->product)
        memset(c->product, 0, (size_t)(cannon_local_rows(c) * cannon_local_cols(c)) * sizeof(double));
}

/* Reads this rank's part of A and B, one block of inner indices after the other. */
static int read_blocks(cannon_t *c, char *error, size_t error_size)
{
    const cannon_shared_t *s = &c->shared;
    npy_block_t own = cannon_local_block(c);
    double *a = c->stored[CANNON_A], *b = c->stored[CANNON_B];
    for (int64_t first = c->grid.col * s->width; a && first < s->k; first += s->width * c->grid.side) {
        npy_block_t block = {own.row0, own.rows, first, s->k - first < s->width ? s->k - first : s->width};
        if (cannon_source_read(&c->a_source, &block, a, own.rows, 1, error, error_size) != 0)
            return EPOP_ERR_SYSTEM;
        a += block.cols * own.rows;
    }
    for (int64_t first = c->grid.row * s->width; b && first < s->k; first += s->width * c->grid.side) {
        npy_block_t block = {first, s->k - first < s->width ? s->k - first : s->width, own.col0, own.cols};
        if (cannon_source_read(&c->b_source, &block, b, own.cols, 0, error, error_size) != 0)
            return EPOP_ERR_SYSTEM;
        b += block.rows * own.cols;
    }
    return EPOP_OK;
}

int cannon_rebuild(void *data)
{
    cannon_t *c = data;
    cannon_grid_open(c, epop_world());
    return cannon_pipeline_open(c);
}

int cannon_load_exec(void *data)
{
    cannon_t *c = data;
    char text[CANNON_TEXT] = "out of memory for the local blocks of A, B and C";
    cannon_grid_open(c, epop_world());
    c->shared.width = c->width;
    c->shared.done = 0;
    c->shared.seconds = 0;
    int error = EPOP_OK;
    c->stored[CANNON_A] = allocate_local(c, cannon_layout_a(c), &error);
    c->stored[CANNON_B] = allocate_local(c, cannon_layout_b(c), &error);
    c->product = allocate_local(c, cannon_layout_c(c), &error);
    if (error == EPOP_OK)
        error = cannon_pipeline_open(c);
    if (error == EPOP_OK)
        clear_product(c);
    if (error == EPOP_OK)
        error = read_blocks(c, text, sizeof(text));
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (error == EPOP_OK && rank == 0 && c->options.c)
        error = npy_check_writable(c->options.c, text, sizeof(text)) == 0 ? EPOP_OK : EPOP_ERR_SYSTEM;
    error = cannon_agree(error, text);
    if (!error)
        cannon_say(c, "%s A (%lld x %lld) and B (%lld x %lld) on %d ranks\n", c->options.random ? "generated" : "read",
                   (long long)c->shared.m, (long long)c->shared.k, (long long)c->shared.k, (long long)c->shared.n,
                   c->grid.side * c->grid.side);
    return error;
}
