/*
 * The mesh: leaves of a quadtree over the unit square, in the order of the Morton curve. Every rank has the whole list,
 * and of each leaf its owner. Nothing here communicates: all ranks make the same of the same.
 */
#ifndef AMR_MESH_H
#define AMR_MESH_H

#include <epop/unstructured.h>

#define MOST_LEVELS 12

/* Sides of a block, and of a face the side on which the other block lies. */
enum { LEFT, RIGHT, BELOW, ABOVE, SIDES };

typedef struct mesh {
    epop_partition_t curve; /* as many as there are leaves */
    int64_t *leaves;        /* each as one number, which grow along the curve */
} mesh_t;

/* Where a leaf is: column x and row y of the 2^level x 2^level blocks of its level. */
typedef struct spot {
    int level;
    int64_t x, y;
} spot_t;

spot_t mesh_spot(const mesh_t *mesh, int64_t place);

/* The one leaf of level 0, of which rank 0 is the owner. 0, or EPOP_ERR_MEMORY. */
int mesh_create(mesh_t *mesh);

/* The leaves at a side: 0 at the end of the square, 2 where they are finer, in their order along the side. */
int mesh_neighbours(const mesh_t *mesh, int64_t place, int side, int64_t *found);

/* What each leaf wants, 1: to be split, -1: to be joined with its siblings, becomes what can be: neighbours differ by
 * one level at most, and four siblings are joined or none. Returns how many leaves change. */
int64_t mesh_settle(const mesh_t *mesh, signed char *change);

/* Changes the leaves so. Children have their parent's owner, and a parent that of its first child. Returns the new
 * place of each old leaf, that of its first child where it was split; NULL if out of memory. */
int64_t *mesh_change(mesh_t *mesh, const signed char *change);

/* The number of leaves of the rank that has most of them, over that which it has if they are dealt out evenly. */
double mesh_imbalance(const mesh_t *mesh);

#endif
