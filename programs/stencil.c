/*
 * Heat in a plate: a stencil of nine points in blocks with ghosts. The data is described, so nothing here moves it. Two
 * edges are held at a temperature, which stands in the boundary; the other two are neighbours. At the end each rank
 * computes the whole plate by itself, and compares its part with that to the last bit.
 *
 *     mpiexec.mpich -n 4 epop --start 2 stencil.so [SIDE [STEPS [SLEEP]]]      50, 200, and 0 microseconds a step
 */
#include <epop/epop.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct heat {
    int64_t side, steps, step, pause; /* the same on every rank */
    double *now, *next;               /* this rank's block with its ghosts, and room for the next step's */
} heat_t;

static epop_blocks_t plate(const heat_t *h)
{
    return (epop_blocks_t){.dims = 2, .count = {h->side, h->side}, .ghosts = {1, 1}, .periodic = {0, 1}};
}

static void describe(void *data, epop_description_t *d)
{
    heat_t *h = data;
    epop_describe_values(d, "parameters", h, offsetof(heat_t, now));
    const epop_blocks_t blocks = plate(h);
    epop_describe_blocks(d, "now", &h->now, MPI_DOUBLE, &blocks, 0);
    epop_describe_blocks(d, "next", &h->next, MPI_DOUBLE, &blocks, EPOP_SCRATCH);
}

/* What a rank owns, and the elements of its array and of a row of it, with ghosts. */
typedef struct part {
    int64_t first[2], count[2], elements, row;
} part_t;

static part_t part_of(const heat_t *h, int rank, int size)
{
    part_t p;
    const epop_blocks_t blocks = plate(h);
    epop_blocks_local(&blocks, rank, size, p.first, p.count);
    p.elements = epop_blocks_elements(&blocks, rank, size);
    p.row = p.count[1] + 2;
    return p;
}

static part_t my_part(const heat_t *h)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    return part_of(h, rank, size);
}

/* The arrays change places, so both have the boundary. */
static int rebuild(void *data)
{
    heat_t *h = data;
    const part_t p = my_part(h);
    if (p.elements > 0)
        memcpy(h->next, h->now, (size_t)p.elements * sizeof *h->now);
    return 0;
}

static double *new_block(const heat_t *h, const part_t *p)
{
    double *u = p->elements < 0 ? NULL : malloc(((size_t)p->elements + 1) * sizeof *u);
    for (int64_t e = 0; u && e < p->elements; e++) {
        int64_t x = p->first[0] + e / p->row - 1, y = p->first[1] + e % p->row - 1;
        u[e] = x < 0 ? 100 : x >= h->side ? -20 : (double)(x * 7 % 13 + y * y % 5);
    }
    return u;
}

static void step(const part_t *p, double **now, double **next)
{
    double *u = *now, *v = *next;
    for (int64_t i = 1; i <= p->count[0]; i++)
        for (int64_t e = i * p->row + 1, up = e - p->row, down = e + p->row; e <= i * p->row + p->count[1];
             e++, up++, down++)
            v[e] =
                (u[up] + u[down] + u[e - 1] + u[e + 1]) / 5 + (u[up - 1] + u[up + 1] + u[down - 1] + u[down + 1]) / 20;
    *now = v;
    *next = u;
}

static int init(int *argc, char ***argv, void **data)
{
    heat_t *h = *data = calloc(1, sizeof *h);
    if (!h || epop_status() != EPOP_NEW)
        return h ? 0 : EPOP_ERR_MEMORY; /* the rest comes by the description */
    h->side = *argc > 1 ? atoll((*argv)[1]) : 50;
    h->steps = *argc > 2 ? atoll((*argv)[2]) : 200;
    h->pause = *argc > 3 ? atoll((*argv)[3]) : 0;
    const part_t p = my_part(h);
    h->now = new_block(h, &p);
    h->next = new_block(h, &p);
    return h->now && h->next ? 0 : EPOP_ERR_ARGUMENT;
}

static int exec(void *data)
{
    heat_t *h = data;
    const part_t p = my_part(h);
    const epop_blocks_t blocks = plate(h);
    int error = epop_halo_exchange(&blocks, MPI_DOUBLE, h->now);
    if (!error)
        step(&p, &h->now, &h->next);
    h->step++;
    if (h->pause > 0)
        usleep((useconds_t)h->pause);
    return error;
}

static int loop(void *data)
{
    const heat_t *h = data;
    return h->step < h->steps;
}

/* The whole plate, without the library. */
static double *reference(const heat_t *h, const part_t *all)
{
    double *u = new_block(h, all), *next = new_block(h, all);
    for (int64_t s = 0; u && next && s < h->step; s++) {
        for (double *row = u; row < u + all->elements; row += all->row) {
            row[0] = row[h->side];
            row[h->side + 1] = row[1];
        }
        step(all, &u, &next);
    }
    free(next);
    return u;
}

static int report(void *data)
{
    const heat_t *h = data;
    const part_t mine = my_part(h), all = part_of(h, 0, 1);
    double *right = reference(h, &all);
    int64_t equal[2] = {0, h->side * h->side};
    for (int64_t i = 1; right && i <= mine.count[0]; i++)
        for (int64_t j = 1; j <= mine.count[1]; j++)
            equal[0] += h->now[i * mine.row + j] == right[(mine.first[0] + i) * all.row + mine.first[1] + j];
    free(right);
    MPI_Allreduce(MPI_IN_PLACE, equal, 1, MPI_INT64_T, MPI_SUM, epop_world());
    if (mine.count[0] > 0 && mine.first[0] == 0 && mine.first[1] == 0)
        printf("stencil: %lld of %lld elements right after %lld steps\n", (long long)equal[0], (long long)equal[1],
               (long long)h->step);
    return equal[0] != equal[1];
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("stencil");
    if (!program)
        return NULL;
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, free);
    epop_add_init(program, "allocate", init);
    epop_add_elastic(program, "stencil", exec, epop_adapt_described, loop);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}
