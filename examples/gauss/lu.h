/*
 * Gaussian elimination with partial pivoting, panel by panel, on columns that are dealt out to the ranks
 * block-cyclically. A rank owns its columns in full, so the search for a pivot needs no message; the factorized
 * panel, a block or a part of one, is the one thing that travels, and it does so while the ranks update their columns
 * with the one before.
 *
 * Between two steps no message is under way, and all that is not in the columns is the same on every rank.
 */
#ifndef GAUSS_LU_H
#define GAUSS_LU_H

#include <epop/redist.h>

typedef struct lu {
    int64_t n, block; /* order of A; columns per block */
    int64_t done;     /* columns eliminated */
    int64_t wide;     /* columns of the present panel */
    int64_t ld;       /* distance of the columns in a */
    double *a;        /* this rank's columns; NULL if it has none */
    double *b;        /* n: the right-hand side, eliminated along; the solution after lu_solve */
    double *smallest; /* n: pivots of this size or less count as zero */
    double *panel;    /* the factorized panel of the present step, as it travels */
    /* Workspace, the same on all ranks in nothing but length: */
    double *next_panel; /* the panel of the next step */
    double *top;
    int *pivots; /* 2 * block: those of the present panel, and of the one that is being made */
} lu_t;

/* Allocates everything but a; blocks wider than A are cut. 0, or -1 if that is too much. Local. */
int lu_create(lu_t *lu, int64_t n, int64_t block);
/* On a rank that got all else from others: the workspace, and the room that a panel needs. 0 or -1. Local. */
int lu_workspace(lu_t *lu);
/* Fine on one that is all zero. */
void lu_free_workspace(lu_t *lu);

/* How the columns are dealt out. */
epop_dist_t lu_columns(const lu_t *lu);
/* How many numbers at panel the next step needs: with b and smallest, what every rank must have between two steps. */
int64_t lu_panel_length(const lu_t *lu);

/*
 * One step: the present panel is eliminated from all columns to its right, and the next one is made, of `width` columns
 * or as many as there are up to the end of the block. Returns 0, or 1 + the column whose pivot counts as zero, on all
 * ranks. Collective.
 */
int64_t lu_step(lu_t *lu, int64_t width, MPI_Comm comm);

/* Back substitution: b becomes the solution, on every rank. Collective. */
void lu_solve(lu_t *lu, MPI_Comm comm);

#endif
