/* A partition by METIS, or with -DSCOTCH by Scotch, at each resize, of docs/guide/libraries.md: heat on a mesh.
 * metis.so [STEPS] */
#include <epop/epop.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef SCOTCH
#include <scotch/scotch.h>
typedef SCOTCH_Num idx_t;
#else
#include <metis.h>
#endif

enum { SIDE = 24, CELLS = SIDE * SIDE };

struct mesh {
    int64_t step, steps;
    int64_t edges;              /* length of neighbours */
    idx_t *starts, *neighbours; /* the graph, as METIS and Scotch take it: on all ranks */
    epop_partition_t cells;     /* who owns which */
    double *u;                  /* this rank's */
    int64_t *order;             /* all cells, those of rank 0 first, each rank's by their indices */
    int *counts, *firsts;       /* of each rank, there */
    double *all;                /* what all ranks have, in that order, */
    double *heat;               /* and by index */
};

#ifdef SCOTCH

static int divide(int64_t count, int size, int *owner, const void *context)
{
    const struct mesh *mesh = context;
    SCOTCH_Graph graph;
    SCOTCH_Strat strategy;
    SCOTCH_graphInit(&graph);
    SCOTCH_stratInit(&strategy);
    int failed = SCOTCH_graphBuild(&graph, 0, (SCOTCH_Num)count, mesh->starts, NULL, NULL, NULL, mesh->starts[count],
                                   mesh->neighbours, NULL) ||
                 SCOTCH_graphPart(&graph, size, &strategy, owner);
    SCOTCH_stratExit(&strategy);
    SCOTCH_graphExit(&graph);
    return failed;
}

#else

/* On rank 0 of the new ranks. */
static int divide(int64_t count, int size, int *owner, const void *context)
{
    const struct mesh *mesh = context;
    idx_t cells = (idx_t)count, conditions = 1, parts = size, cut;
    if (size > 1)
        return METIS_PartGraphKway(&cells, &conditions, mesh->starts, mesh->neighbours, NULL, NULL, NULL, &parts, NULL,
                                   NULL, NULL, &cut, owner) != METIS_OK;
    for (int64_t i = 0; i < count; i++) /* METIS wants two parts or more */
        owner[i] = 0;
    return 0;
}

#endif

static void describe(void *data, epop_description_t *d)
{
    struct mesh *mesh = data;
    epop_describe_values(d, "step", &mesh->step, sizeof mesh->step);
    epop_describe_values(d, "edges", &mesh->edges, sizeof mesh->edges);
    epop_describe_replicated(d, "starts", &mesh->starts, MPI_INT, CELLS + 1, EPOP_CONSTANT);
    epop_describe_replicated(d, "neighbours", &mesh->neighbours, MPI_INT, mesh->edges, EPOP_CONSTANT);
    epop_describe_partition(d, "cells", &mesh->cells);
    epop_describe_owned(d, "u", &mesh->u, MPI_DOUBLE, &mesh->cells, 0);
}

/* What follows from the partition: which cells come from which rank. */
static int rebuild(void *data)
{
    struct mesh *mesh = data;
    int size, first = 0;
    MPI_Comm_size(epop_world(), &size);
    free(mesh->counts);
    mesh->counts = malloc(2 * (size_t)size * sizeof(int));
    if (!mesh->counts)
        return EPOP_ERR_MEMORY;
    mesh->firsts = mesh->counts + size;
    for (int rank = 0; rank < size; rank++) {
        mesh->firsts[rank] = first;
        mesh->counts[rank] = (int)epop_partition_local(&mesh->cells, rank, mesh->order + first);
        first += mesh->counts[rank];
    }
    return 0;
}

static int init_graph(struct mesh *mesh)
{
    mesh->starts = malloc((CELLS + 1) * sizeof(idx_t));
    mesh->neighbours = malloc(4 * CELLS * sizeof(idx_t));
    if (!mesh->starts || !mesh->neighbours)
        return EPOP_ERR_MEMORY;
    for (int cell = 0; cell < CELLS; cell++) {
        const int row = cell / SIDE, col = cell % SIDE;
        mesh->starts[cell] = (idx_t)mesh->edges;
        for (int side = 0; side < 4; side++) {
            int to_row = row + (side == 0) - (side == 1), to_col = col + (side == 2) - (side == 3);
            if (to_row >= 0 && to_row < SIDE && to_col >= 0 && to_col < SIDE)
                mesh->neighbours[mesh->edges++] = to_row * SIDE + to_col;
        }
    }
    mesh->starts[CELLS] = (idx_t)mesh->edges;
    return 0;
}

static int init(int *argc, char ***argv, void **data)
{
    struct mesh *mesh = *data = calloc(1, sizeof *mesh);
    if (!mesh)
        return EPOP_ERR_MEMORY;
    mesh->steps = *argc > 1 ? atoll((*argv)[1]) : 1000;
    mesh->cells.divide = divide; /* on every process */
    mesh->cells.context = mesh;
    mesh->order = malloc(CELLS * sizeof *mesh->order);
    mesh->all = malloc(2 * CELLS * sizeof(double));
    mesh->heat = mesh->all + CELLS;
    if (!mesh->order || !mesh->all)
        return EPOP_ERR_MEMORY;
    if (epop_status() != EPOP_NEW)
        return 0;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    mesh->cells.count = CELLS;
    if (init_graph(mesh) || epop_partition_divide(&mesh->cells) || rebuild(mesh))
        return EPOP_ERR_MEMORY;
    mesh->u = malloc((size_t)mesh->counts[rank] * sizeof(double) + 1);
    for (int i = 0; mesh->u && i < mesh->counts[rank]; i++)
        mesh->u[i] = (double)(mesh->order[mesh->firsts[rank] + i] % 100);
    return mesh->u ? 0 : EPOP_ERR_MEMORY;
}

/* A real code would send only the cells at the borders. */
static int step(void *data)
{
    struct mesh *mesh = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Allgatherv(mesh->u, mesh->counts[rank], MPI_DOUBLE, mesh->all, mesh->counts, mesh->firsts, MPI_DOUBLE,
                   epop_world());
    for (int i = 0; i < CELLS; i++)
        mesh->heat[mesh->order[i]] = mesh->all[i];
    for (int i = 0; i < mesh->counts[rank]; i++) {
        int64_t cell = mesh->order[mesh->firsts[rank] + i];
        for (idx_t edge = mesh->starts[cell]; edge < mesh->starts[cell + 1]; edge++)
            mesh->u[i] += 0.2 * (mesh->heat[mesh->neighbours[edge]] - mesh->heat[cell]);
    }
    mesh->step++;
    return 0;
}

static int more(void *data)
{
    struct mesh *mesh = data;
    return mesh->step < mesh->steps;
}

static int report(void *data)
{
    struct mesh *mesh = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    double sum = 0; /* each cell's by its place */
    for (int i = 0; i < mesh->counts[rank]; i++)
        sum += mesh->u[i] * (double)mesh->order[mesh->firsts[rank] + i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("moment %.6f after %lld steps\n", sum, (long long)mesh->step);
    return 0;
}

static void release(void *data)
{
    struct mesh *mesh = data;
    free(mesh->order);
    free(mesh->all);
    free(mesh->counts);
    free(mesh);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("metis");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "diffuse", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    return program;
}
