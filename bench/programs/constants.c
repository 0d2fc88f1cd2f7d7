/*
 * Described data, a part of which is constant: for how long a resize stops the program, and what it costs while it
 * runs. constants MIB PERCENT STEPS FILE [rows] MIB: of data, of which PERCENT % are constant: a vector, or sparse rows
 * of 27 numbers and their columns. STEPS: how much each rank computes in an iteration. FILE: rank 0 writes pairs of
 * doubles there, one for each iteration: when it began (seconds since 1970), and how long it took.
 */
#include <epop/epop.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 1000000 /* iterations that are written */

#define ROW 27 /* numbers in a row */

typedef struct values {
    int64_t constant, changing; /* doubles, of all ranks; of what is constant, rows instead */
} values_t;

typedef struct data {
    values_t v;
    double *k, *u; /* k: in rows, their numbers */
    int32_t *columns;
    int64_t *starts;
    bool rows;
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
    const epop_row_array_t arrays[] = {{MPI_INT32_T, &d->columns}, {MPI_DOUBLE, &d->k}};
    epop_dist_t dist = epop_dist_block(d->v.constant);
    if (d->rows)
        epop_describe_csr(list, "k", &d->starts, MPI_INT64_T, dist, arrays, 2, EPOP_CONSTANT);
    else
        epop_describe_array(list, "k", &d->k, MPI_DOUBLE, dist, EPOP_CONSTANT);
    epop_describe_array(list, "u", &d->u, MPI_DOUBLE, epop_dist_block(d->v.changing), 0);
}

static int64_t own_part(int64_t count)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    return epop_dist_local_count(epop_dist_block(count), rank, size);
}

/* All pages are there. */
static double *numbers(int64_t count)
{
    double *numbers = malloc((size_t)count * sizeof *numbers + 1);
    for (int64_t i = 0; numbers && i < count; i++)
        numbers[i] = (double)i;
    return numbers;
}

static int make_rows(data_t *d)
{
    int64_t rows = own_part(d->v.constant);
    d->starts = malloc((size_t)(rows + 1) * sizeof *d->starts);
    d->columns = malloc((size_t)(rows * ROW) * sizeof *d->columns + 1);
    for (int64_t i = 0; d->starts && i <= rows; i++)
        d->starts[i] = i * ROW;
    for (int64_t i = 0; d->columns && i < rows * ROW; i++)
        d->columns[i] = (int32_t)i;
    return d->starts && d->columns ? 0 : EPOP_ERR_MEMORY;
}

/* How many doubles, or rows, so many bytes are. */
static int64_t constants_in(const data_t *d, int64_t bytes)
{
    int64_t row = (int64_t)sizeof *d->starts + ROW * (int64_t)(sizeof *d->columns + sizeof *d->k);
    return bytes / (d->rows ? row : (int64_t)sizeof *d->k);
}

static int start(int *argc, char ***argv, void **data)
{
    data_t *d = calloc(1, sizeof *d);
    if (!d || *argc < 5)
        return EPOP_ERR_ARGUMENT;
    *data = d;
    d->rows = *argc > 5 && !strcmp((*argv)[5], "rows");
    int64_t all = atoll((*argv)[1]) * (1 << 20), constant = all / 100 * atoll((*argv)[2]);
    d->v.constant = constants_in(d, constant);
    d->v.changing = (all - constant) / (int64_t)sizeof *d->u;
    d->steps = atoll((*argv)[3]);
    d->file = (*argv)[4];
    d->times = malloc(MOST * sizeof *d->times);
    if (epop_status() == EPOP_JOINING)
        return d->times ? 0 : EPOP_ERR_MEMORY;
    d->k = numbers(own_part(d->v.constant) * (d->rows ? ROW : 1));
    d->u = numbers(own_part(d->v.changing));
    if (d->rows && make_rows(d))
        return EPOP_ERR_MEMORY;
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
