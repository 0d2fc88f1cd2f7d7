/* Heat in a rod, the program of docs/guide/tutorial.md: mpiexec.mpich -n 2 epop heat.so [CELLS [STEPS]] */
#include <epop/epop.h>
#include <stdio.h>
#include <stdlib.h>

struct heat {
    int64_t cells, steps; /* from the command line */
    int64_t step;         /* done so far; the same on every rank */
    double *u;            /* this rank's cells */
};

static int64_t place(const struct heat *heat, int *rank, int *size)
{
    MPI_Comm_rank(epop_world(), rank);
    MPI_Comm_size(epop_world(), size);
    return epop_dist_local_count(epop_dist_block(heat->cells), *rank, *size);
}

static int init(int *argc, char ***argv, void **data)
{
    int rank, size;
    struct heat *heat = *data = calloc(1, sizeof *heat);
    if (!heat)
        return EPOP_ERR_MEMORY;
    heat->cells = *argc > 1 ? atoll((*argv)[1]) : 1000;
    heat->steps = *argc > 2 ? atoll((*argv)[2]) : 1000;
    if (epop_status() != EPOP_NEW)
        return 0; /* a rank that joins later gets its cells from the others: see step 2 */
    heat->u = calloc((size_t)place(heat, &rank, &size), sizeof(double));
    return heat->u ? 0 : EPOP_ERR_MEMORY;
}

static int step(void *data)
{
    struct heat *heat = data;
    int rank, size;
    int64_t mine = place(heat, &rank, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *u = heat->u, west = 1, east = 0; /* the ends of the rod */
    MPI_Sendrecv(&u[mine - 1], 1, MPI_DOUBLE, right, 0, &west, 1, MPI_DOUBLE, left, 0, epop_world(), MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[0], 1, MPI_DOUBLE, left, 0, &east, 1, MPI_DOUBLE, right, 0, epop_world(), MPI_STATUS_IGNORE);
    for (int64_t i = 0; i < mine; i++) {
        double old = u[i];
        u[i] += 0.25 * (west - 2 * old + (i < mine - 1 ? u[i + 1] : east));
        west = old;
    }
    heat->step++;
    return 0;
}

static int more(void *data)
{
    struct heat *heat = data;
    return heat->step < heat->steps;
}

static int report(void *data)
{
    struct heat *heat = data;
    int rank, size;
    int64_t mine = place(heat, &rank, &size);
    double sum = 0;
    for (int64_t i = 0; i < mine; i++)
        sum += heat->u[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("heat %.6f after %lld steps\n", sum, (long long)heat->step);
    return 0;
}

static void describe(void *data, epop_description_t *d)
{
    struct heat *heat = data;
    epop_describe_values(d, "step", &heat->step, sizeof heat->step);                    /* the same on every rank */
    epop_describe_array(d, "u", &heat->u, MPI_DOUBLE, epop_dist_block(heat->cells), 0); /* a block on every rank */
}

static void progress(void *data, epop_progress_t *progress)
{
    struct heat *heat = data;
    progress->iteration = heat->step;
    progress->bound = heat->steps;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("heat");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    int diffuse = epop_add_elastic(program, "diffuse", step, epop_adapt_described, more);
    epop_set_progress(program, diffuse, progress);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, free);
    program->sizes = (epop_sizes_t){.kind = EPOP_SIZE_POWER_OF_TWO, .max = 64, .preferred = 4};
    return program;
}
