/*
 * Rigid phases only: pi by the midpoint rule on all ranks. The number of ranks cannot change while it runs;
 * what a plain MPI program becomes at first.
 *
 *     mpiexec -n 4 epop ./rigid.so 10000000
 */
#include <epop/epop.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct integral {
    int64_t points;   /* in all */
    int part, parts;  /* the work is done in parts, one per iteration */
    double local, pi; /* this rank's sum; the result, on rank 0 */
};

static int init(int *argc, char ***argv, void **data)
{
    int64_t points = *argc > 1 ? atoll((*argv)[1]) : 1000000;
    if (points < 1) {
        fprintf(stderr, "rigid: the argument must be a number of points from 1 on\n");
        return EPOP_ERR_ARGUMENT;
    }
    struct integral *integral = malloc(sizeof *integral);
    if (!integral)
        return EPOP_ERR_MEMORY;
    *integral = (struct integral){.points = points, .parts = 10};
    *data = integral;
    return 0;
}

/* Every rank takes every size-th point of the present part. */
static int sum_part(void *data)
{
    struct integral *integral = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank); /* epop_world() stands where a plain program has MPI_COMM_WORLD */
    MPI_Comm_size(epop_world(), &size);
    int64_t first = integral->points * integral->part / integral->parts;
    int64_t end = integral->points * (integral->part + 1) / integral->parts;
    for (int64_t i = first + rank; i < end; i += size) {
        double x = ((double)i + 0.5) / (double)integral->points;
        integral->local += 4 / (1 + x * x);
    }
    integral->part++;
    return 0;
}

static int more_parts(void *data)
{
    const struct integral *integral = data;
    return integral->part < integral->parts;
}

static int reduce(void *data)
{
    struct integral *integral = data;
    MPI_Reduce(&integral->local, &integral->pi, 1, MPI_DOUBLE, MPI_SUM, 0, epop_world());
    integral->pi /= (double)integral->points;
    return 0;
}

static int report(void *data)
{
    const struct integral *integral = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("pi is about %.12f (error %.1e)\n", integral->pi, fabs(integral->pi - acos(-1)));
    free(data);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("rigid");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "sum", sum_part, more_parts);
    epop_add_rigid(program, "reduce", reduce, NULL);
    epop_add_rigid(program, "report", report, NULL);
    return program;
}
