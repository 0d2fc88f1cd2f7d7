/* The solver: blocks that move on in time, on a mesh that follows them. It knows no malleability, and works on whatever
 * ranks epop_world() has. */
#ifndef AMR_SOLVER_H
#define AMR_SOLVER_H

#include "amr/borders.h"
#include "amr/options.h"

typedef struct solver {
    options_t options;
    flow_t flow;
    mesh_t mesh;
    block_t *blocks; /* this rank's, in the order of the curve */
    int64_t count;
    MPI_Datatype type; /* of a block */
    borders_t borders;
    int64_t step;    /* that comes next */
    int64_t deals;   /* so often it was dealt out anew */
    double mass;     /* at the start */
    double computed; /* CPU seconds of this rank outside MPI in the last step */
} solver_t;

/* All functions return 0 or an error number, the same on all ranks but for EPOP_ERR_MEMORY. */

/* What a process needs before it has data: tables. Local. */
int solver_create(solver_t *solver);
void solver_free(solver_t *solver);

/* The mesh and the blocks at the start, dealt out evenly. Collective, as all that follows. */
int solver_start(solver_t *solver);

/* Behind every change of ranks or owners. */
int solver_connect(solver_t *solver);

/* One step. Before each that is a multiple of options.every the mesh is changed, and dealt out anew where that has made
 * it uneven. */
int solver_step(solver_t *solver);

/* Which of the present ranks has a block, by the mesh as context. */
int solver_owner(const void *block, int size, const void *mesh);

double solver_mass(const solver_t *solver);

#endif
