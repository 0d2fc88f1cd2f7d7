/* Threads that follow the ranks of each node, of docs/guide/libraries.md: openmp.so [STEPS]. */
#include <epop/epop.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 100000 };

struct decay {
    int64_t step, steps;
    double *u;     /* a block of CELLS */
    int64_t first; /* of which this is the first one, */
    int64_t mine;  /* and so many are here */
};

static int follow(void *data)
{
    struct decay *decay = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    decay->mine = epop_dist_local_count(epop_dist_block(CELLS), rank, size);
    decay->first = decay->mine ? epop_dist_global(epop_dist_block(CELLS), rank, size, 0) : 0;
    omp_set_num_threads(epop_threads());
    if (rank == 0)
        printf("size %d: rank 0 has %d threads\n", size, omp_get_max_threads());
    return 0;
}

static void describe(void *data, epop_description_t *d)
{
    struct decay *decay = data;
    epop_describe_values(d, "step", &decay->step, sizeof decay->step);
    epop_describe_array(d, "u", &decay->u, MPI_DOUBLE, epop_dist_block(CELLS), 0);
}

static int init(int *argc, char ***argv, void **data)
{
    struct decay *decay = *data = calloc(1, sizeof *decay);
    if (!decay)
        return EPOP_ERR_MEMORY;
    decay->steps = *argc > 1 ? atoll((*argv)[1]) : 1000;
    if (epop_status() != EPOP_NEW)
        return 0;
    follow(decay);
    decay->u = malloc((size_t)decay->mine * sizeof(double));
    for (int64_t i = 0; decay->u && i < decay->mine; i++)
        decay->u[i] = (double)(decay->first + i) / CELLS;
    return decay->u ? 0 : EPOP_ERR_MEMORY;
}

static int step(void *data)
{
    struct decay *decay = data;
#pragma omp parallel for
    for (int64_t i = 0; i < decay->mine; i++) {
        double rate = 1 + (double)(decay->first + i) / CELLS;
        decay->u[i] += 0.001 * (1 - rate * decay->u[i]);
    }
    decay->step++;
    return 0;
}

static int more(void *data)
{
    struct decay *decay = data;
    return decay->step < decay->steps;
}

static int report(void *data)
{
    struct decay *decay = data;
    int rank;
    double sum = 0;
    MPI_Comm_rank(epop_world(), &rank);
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < decay->mine; i++)
        sum += decay->u[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("sum %.9f after %lld steps\n", sum, (long long)decay->step);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("openmp");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "decay", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, follow);
    epop_release(program, free);
    return program;
}
