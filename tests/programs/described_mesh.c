/*
 * Sparse rows by described cuts, balanced by their nonzeros, and elements that a partition owns: checked element by
 * element in every iteration, and changed. described_mesh.so [ROWS [ITERATIONS [constant]]]: or not changed,
 * beside blocks with ghosts, which move in the window though they are constant.
 */
#include <epop/epop.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct mesh {
    struct {
        int64_t rows, iterations, step;
    } p;
    epop_dist_t cuts;
    int64_t *starts;
    int *cols;
    double *values;
    epop_partition_t partition;
    double *cells;
    unsigned flags;   /* EPOP_CONSTANT: nothing changes, and these are there: */
    int64_t *weights; /* by the cuts: the global index, as in the next ones */
    int64_t *field;   /* with a ghost on each side, periodic */
    int64_t *plain;
} mesh_t;

/* The first rows are long, so that even cuts would not be balanced. */
static int64_t length_of(const mesh_t *m, int64_t row)
{
    return row < m->p.rows / 4 ? 9 : row % 3;
}

static double value_of(const mesh_t *m, int64_t row, int64_t k)
{
    return (double)(row * 100 + k + m->p.step * (row % 5));
}

static int owner_of(int64_t index, int size)
{
    return (int)(index * 31 % 101 % size);
}

static int divide(int64_t count, int size, int *owner, const void *context)
{
    (void)context;
    for (int64_t i = 0; i < count; i++)
        owner[i] = owner_of(i, size);
    return 0;
}

static epop_blocks_t field(const mesh_t *m)
{
    return (epop_blocks_t){.dims = 1, .count = {m->p.rows}, .ghosts = {1}, .periodic = {1}};
}

static void describe_constants(mesh_t *m, epop_description_t *d)
{
    epop_blocks_t blocks = field(m);
    epop_describe_array(d, "weights", &m->weights, MPI_INT64_T, m->cuts, m->flags);
    epop_describe_blocks(d, "field", &m->field, MPI_INT64_T, &blocks, m->flags);
    epop_describe_array(d, "plain", &m->plain, MPI_INT64_T, epop_dist_block(m->p.rows), m->flags);
}

static void describe(void *data, epop_description_t *d)
{
    mesh_t *m = data;
    const epop_row_array_t arrays[] = {{MPI_INT, &m->cols}, {MPI_DOUBLE, &m->values}};
    epop_describe_values(d, "parameters", &m->p, sizeof m->p);
    epop_describe_members(d, "parameters", "int64_t rows, iterations, step");
    epop_describe_cuts(d, "rows", &m->cuts, "A");
    epop_describe_csr(d, "A", &m->starts, MPI_INT64_T, m->cuts, arrays, 2, m->flags);
    epop_describe_members(d, "A", "column, value");
    epop_describe_partition(d, "parts", &m->partition);
    epop_describe_owned(d, "cells", &m->cells, MPI_DOUBLE, &m->partition, m->flags);
    if (m->flags)
        describe_constants(m, d);
}

static void here(int *rank, int *size)
{
    MPI_Comm_rank(epop_world(), rank);
    MPI_Comm_size(epop_world(), size);
}

static int see(int64_t *at, int64_t index, int set)
{
    *at = set ? index : *at;
    return *at != index;
}

static int visit_constants(mesh_t *m, int set)
{
    int rank, size, wrong = 0;
    here(&rank, &size);
    epop_blocks_t blocks = field(m);
    epop_dist_t plain = epop_dist_block(m->p.rows);
    int64_t first, count;
    for (int64_t i = 0; i < epop_dist_local_count(m->cuts, rank, size); i++)
        wrong += see(&m->weights[i], epop_dist_global(m->cuts, rank, size, i), set);
    for (int64_t i = 0; i < epop_dist_local_count(plain, rank, size); i++)
        wrong += see(&m->plain[i], epop_dist_global(plain, rank, size, i), set);
    epop_blocks_local(&blocks, rank, size, &first, &count);
    for (int64_t i = -1; count > 0 && i <= count; i++)
        wrong += see(&m->field[i + 1], (first + i + m->p.rows) % m->p.rows, set);
    return wrong;
}

/* Checks everything; `set`: makes it what it is at this step. */
static int visit(mesh_t *m, int set)
{
    int rank, size, wrong = 0;
    here(&rank, &size);
    int64_t rows = epop_dist_local_count(m->cuts, rank, size), at = 0, count = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = epop_dist_global(m->cuts, rank, size, i);
        if (set)
            m->starts[i + 1] = at + length_of(m, row);
        wrong += m->starts[i] != at || m->starts[i + 1] != at + length_of(m, row);
        for (int64_t k = 0; k < length_of(m, row) && !wrong; k++, at++) {
            if (set)
                m->cols[at] = (int)(row ^ k), m->values[at] = value_of(m, row, k);
            wrong += m->cols[at] != (int)(row ^ k) || m->values[at] != value_of(m, row, k);
        }
    }
    for (int64_t i = 0; i < m->p.rows; i++) {
        wrong += owner_of(i, size) != m->partition.owner[i] || m->partition.ranks != size;
        if (owner_of(i, size) != rank)
            continue;
        if (set)
            m->cells[count] = value_of(m, i, 7);
        wrong += m->cells[count++] != value_of(m, i, 7);
    }
    if (m->flags)
        wrong += visit_constants(m, set);
    if (wrong)
        fprintf(stderr, "mesh: rank %d of %d has %d wrong numbers in step %lld\n", rank, size, wrong,
                (long long)m->p.step);
    return wrong != 0;
}

static int init(int *argc, char ***argv, void **data)
{
    int rank, size;
    int64_t total = 0;
    mesh_t *m = *data = calloc(1, sizeof *m);
    if (!m)
        return EPOP_ERR_MEMORY;
    m->partition.divide = divide;
    m->flags = *argc > 3 && !strcmp((*argv)[3], "constant") ? EPOP_CONSTANT : 0;
    if (epop_status() != EPOP_NEW)
        return 0;
    m->p.rows = m->partition.count = *argc > 1 ? atoll((*argv)[1]) : 1000;
    m->p.iterations = *argc > 2 ? atoll((*argv)[2]) : 1000000;
    here(&rank, &size);
    m->cuts = epop_dist_even_cuts(m->p.rows, size);
    int64_t rows = epop_dist_local_count(m->cuts, rank, size);
    for (int64_t i = 0; i < rows; i++)
        total += length_of(m, epop_dist_global(m->cuts, rank, size, i));
    m->starts = calloc((size_t)rows + 1, sizeof *m->starts);
    m->cols = malloc((size_t)total * sizeof *m->cols + 1);
    m->values = malloc((size_t)total * sizeof *m->values + 1);
    if (epop_partition_divide(&m->partition))
        return EPOP_ERR_MEMORY;
    m->cells = malloc((size_t)epop_partition_local(&m->partition, rank, NULL) * sizeof *m->cells + 1);
    epop_blocks_t blocks = field(m);
    m->weights = malloc((size_t)rows * sizeof *m->weights + 1);
    m->plain = malloc((size_t)m->p.rows * sizeof *m->plain + 1);
    m->field = malloc((size_t)epop_blocks_elements(&blocks, rank, size) * sizeof *m->field + 1);
    return visit(m, 1);
}

static int step(void *data)
{
    mesh_t *m = data;
    int wrong = visit(m, 0);
    m->p.step += !m->flags;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    MPI_Barrier(epop_world());
    return wrong || (!m->flags && visit(m, 1));
}

static int more(void *data)
{
    const mesh_t *m = data;
    return m->p.step < m->p.iterations;
}

/* No rank has more than the others, but for the longest row. */
static int balanced(const mesh_t *m, int rank, int size)
{
    int64_t rows = epop_dist_local_count(m->cuts, rank, size), mine = rows ? m->starts[rows] : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, epop_world());
    int well = mine * size <= all + 9 * size && mine * size >= all - 9 * size;
    MPI_Allreduce(MPI_IN_PLACE, &well, 1, MPI_INT, MPI_MIN, epop_world());
    return well;
}

static int report(void *data)
{
    mesh_t *m = data;
    int rank, size;
    here(&rank, &size);
    int well = balanced(m, rank, size), wrong = visit(m, 0);
    if (rank == 0)
        printf("mesh: right on %d ranks, %s\n", size, well ? "balanced" : "not balanced");
    return wrong;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("mesh");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "steps", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, free);
    return program;
}
