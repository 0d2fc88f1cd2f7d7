/* One block of cells: what a step makes of it, and how it is split and joined. Nothing here communicates. */
#ifndef AMR_BLOCK_H
#define AMR_BLOCK_H

#include "amr/mesh.h"

#define CELLS 8 /* of a block's side */

typedef struct block {
    int64_t place; /* on the curve */
    double u[CELLS * CELLS];
} block_t;

/* What stands beside a side: nothing, or leaves of the same or another level. */
enum { WALL, SAME, COARSER, FINER };

/* The two cells nearest to a side, the nearest first. Beside finer blocks there are as many as they have. */
typedef double edge_t[2];
typedef struct border {
    int kind[SIDES];
    edge_t cells[SIDES][2 * CELLS];
} border_t;

/* Its edge on a side, for a neighbour there of another level as for one of the same; for a finer one, `part` is the
 * half beside it, and a cell stands for two. */
void block_edge(const block_t *block, int side, int kind, int part, edge_t *edge);

/* What is outside of the square is as the block. */
void block_mirror(const block_t *block, int side, border_t *border);

/* The flow: a vortex of which the strength changes with time, so that it winds up what it carries, and unwinds it. Its
 * stream function vanishes at the ends of the square, and differences of it are what passes a face, so that nothing is
 * lost and nothing piles up. */
typedef struct flow {
    int levels;     /* the finest */
    double *sine;   /* sin^2(pi x) at the corners of the finest cells */
    double step;    /* seconds */
    int64_t period; /* in steps */
} flow_t;

/* 0, or EPOP_ERR_MEMORY. */
int flow_create(flow_t *flow, int levels, int64_t period);

/* What is carried, at the start. */
void block_start(block_t *block, spot_t spot);

/* The largest difference between cells at the start, as block_jump gives it. */
double block_start_jump(spot_t spot);

void block_advance(block_t *block, spot_t spot, const border_t *border, const flow_t *flow, int64_t step);

/* The largest difference between two cells beside each other, also across its sides. */
double block_jump(const block_t *block, const border_t *border);

/* In both the mass stays what it is. */
void block_split(const block_t *parent, block_t *children);
void block_join(const block_t *children, block_t *parent);

/* The sum over its cells times their area. */
double block_mass(const block_t *block, spot_t spot);

#endif
