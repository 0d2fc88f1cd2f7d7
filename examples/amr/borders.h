/* What the blocks of a rank need of their neighbours in each step, from other ranks and from its own. */
#ifndef AMR_BORDERS_H
#define AMR_BORDERS_H

#include <mpi.h>

#include "amr/block.h"

typedef struct borders {
    MPI_Comm comm;
    int size;                   /* of comm */
    int64_t first, count;       /* this rank's blocks on the curve */
    border_t *of;               /* each of them */
    struct link *sends, *gets;  /* edges, by rank, and then in an order that both ranks know */
    edge_t *out, *in;           /* what stands in them */
    int *counts[2], *starts[2]; /* numbers in `out` and `in` for each rank, and where they begin */
    int64_t links[2];           /* in `sends` and `gets` */
} borders_t;

/* For the present mesh and ranks; frees what was before. 0, or EPOP_ERR_MEMORY. Local. */
int borders_create(borders_t *borders, const mesh_t *mesh, MPI_Comm comm);
void borders_free(borders_t *borders);

/* Three parts of an exchange, of which the second alone communicates: it is collective. */
void borders_pack(borders_t *borders, const block_t *blocks);
void borders_send(borders_t *borders);
void borders_unpack(borders_t *borders, const block_t *blocks);

#endif
