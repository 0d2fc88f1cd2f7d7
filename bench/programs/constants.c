/*
 * Described data, a part of which is constant: for how long a resize stops the program, and what it costs while it
 * runs. constants MIB PERCENT STEPS FILE MIB: of data, of which PERCENT % are constant. STEPS: how much each rank
 * computes in an iteration. FILE: rank 0 writes pairs of doubles there, one for each iteration: when it began (seconds
 * since 1970), and how long it took.
 */
#include <epop/epop.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 1000000 /* iterations that are written */

typedef struct values {
    int64_t constant, changing; /* doubles, of all ranks */
} values_t;

typedef struct data {
    values_t v;
    double *k, *u;
    int64_t steps;
    const char *file;
    double (*times)[2];
    int64_t count;
    double x;
} data_t;

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void describe(void *data, epop_description_t *list)
{
    data_t *d = data;
    epop_describe_values(list, "sizes", &d->v, sizeof d->v);
    epop_describe_array(list, "k", &d->k, MPI_DOUBLE, epop_dist_block(d->v.constant), EPOP_CONSTANT);
    epop_describe_array(list, "u", &d->u, MPI_DOUBLE, epop_dist_block(d->v.changing), 0);
}

/* All pages are there. */
static double *part(int64_t count)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    int64_t own = epop_dist_local_count(epop_dist_block(count), rank, size);
    double *part = malloc((size_t)own * sizeof *part + 1);
    for (int64_t i = 0; part && i < own; i++)
        part[i] = (double)i;
    return part;
}

static int start(int *argc, char ***argv, void **data)
{
    data_t *d = calloc(1, sizeof *d);
    if (!d || *argc < 5)
        return EPOP_ERR_ARGUMENT;
    *data = d;
    int64_t all = atoll((*argv)[1]) * (1 << 20) / (int64_t)sizeof(double);
    d->v.constant = all * atoll((*argv)[2]) / 100;
    d->v.changing = all - d->v.constant;
    d->steps = atoll((*argv)[3]);
    d->file = (*argv)[4];
    d->times = malloc(MOST * sizeof *d->times);
    if (epop_status() == EPOP_JOINING)
        return d->times ? 0 : EPOP_ERR_MEMORY;
    d->k = part(d->v.constant);
    d->u = part(d->v.changing);
    return d->times && d->k && d->u ? 0 : EPOP_ERR_MEMORY;
}

static int iterate(void *data)
{
    data_t *d = data;
    double begin = seconds(CLOCK_REALTIME), clock = seconds(CLOCK_MONOTONIC), sum;
    for (int64_t i = 0; i < d->steps; i++)
        d->x = d->x * 0.999999 + 1e-6;
    MPI_Allreduce(&d->x, &sum, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (d->count < MOST) {
        d->times[d->count][0] = begin;
        d->times[d->count++][1] = seconds(CLOCK_MONOTONIC) - clock;
    }
    return 0;
}

static int on(void *data)
{
    (void)data;
    return 1;
}

static int last(void *data)
{
    const data_t *d = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    FILE *file = rank == 0 ? fopen(d->file, "wb") : NULL;
    if (!file)
        return 0;
    size_t written = fwrite(d->times, sizeof *d->times, (size_t)d->count, file);
    return fclose(file) || written != (size_t)d->count;
}

static void release(void *data)
{
    data_t *d = data;
    free(d->times);
    free(d);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("constants");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "iterate", iterate, epop_adapt_described, on);
    program->finalizer = epop_add_rigid(program, "last", last, NULL);
    epop_describe(program, describe);
    epop_release(program, release);
    return program;
}
