/*
 * ScaLAPACK: the BLACS grid and the descriptors of described matrices, in a program that is resized. Functions of the
 * header alone, for a program that is linked with ScaLAPACK. docs/guide/libraries.md has an example.
 *
 * Source: ScaLAPACK Users' Guide, chapters 4 and 6.
 */
#ifndef EPOP_SCALAPACK_H
#define EPOP_SCALAPACK_H

#include <epop/elastic.h>
#include <epop/redist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A grid of the present world. Begins as {0}. */
typedef struct epop_blacs {
    int context;    /* for BLACS and ScaLAPACK; valid if `rows` is not 0 */
    int rows, cols; /* of ranks, in row order, as a described matrix with a grid of 0 x 0 has them */
} epop_blacs_t;

/* Frees the grid, if there is one, and with it all grids of the process: BLACS counts the processes once, and refuses
 * larger grids unless it is made to count again. MPI goes on. Local. */
static inline void epop_blacs_close(epop_blacs_t *grid)
{
    /* By other names, so that a program may declare them as it likes. */
    void end_grid(int context) __asm__("Cblacs_gridexit");
    void end_blacs(int go_on) __asm__("Cblacs_exit");
    if (grid->rows) {
        end_grid(grid->context);
        end_blacs(1);
    }
    grid->rows = grid->cols = 0;
}

/* Makes the grid of the present world, in INIT and in the rebuild block, and frees the one of the world before.
 * Collective over epop_world(). */
static inline void epop_blacs_open(epop_blacs_t *grid)
{
    int handle_of(MPI_Comm comm) __asm__("Csys2blacs_handle");
    void begin_grid(int *context, const char *order, int rows, int cols) __asm__("Cblacs_gridinit");
    int size;
    epop_blacs_close(grid);
    MPI_Comm_size(epop_world(), &size);
    epop_grid_near_square(size, &grid->rows, &grid->cols);
    grid->context = handle_of(epop_world());
    begin_grid(&grid->context, "Row", grid->rows, grid->cols);
}

/* Fills in the descriptor of a matrix on that grid, and what this rank has of it, `*rows` x `*cols` (unless NULL). The
 * distributions of `dist` are block-cyclic, and it is stored by columns; its grid does not count. Returns EPOP_OK, or
 * EPOP_ERR_ARGUMENT where it is no matrix of ScaLAPACK. Local. */
static inline int epop_scalapack_desc(const epop_blacs_t *grid, const epop_dist2d_t *dist, int desc[9], int64_t *rows,
                                      int64_t *cols)
{
    epop_dist2d_t here = *dist;
    int64_t count[2];
    int rank;
    if (dist->rows.kind != EPOP_DIST_BLOCK_CYCLIC || dist->cols.kind != EPOP_DIST_BLOCK_CYCLIC || !dist->column_major ||
        !grid->rows)
        return EPOP_ERR_ARGUMENT;
    here.grid_rows = grid->rows;
    here.grid_cols = grid->cols;
    MPI_Comm_rank(epop_world(), &rank);
    epop_dist2d_local(&here, rank, &count[0], &count[1]);
    desc[0] = 1; /* dense */
    desc[1] = grid->context;
    desc[2] = (int)dist->rows.count;
    desc[3] = (int)dist->cols.count;
    desc[4] = (int)dist->rows.block;
    desc[5] = (int)dist->cols.block;
    desc[6] = desc[7] = 0; /* the first block is on the first row and column of ranks */
    desc[8] = count[0] > 0 ? (int)count[0] : 1;
    if (rows)
        *rows = count[0];
    if (cols)
        *cols = count[1];
    return EPOP_OK;
}

#ifdef __cplusplus
}
#endif
#endif
