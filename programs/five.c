/*
 * Grows, shrinks, is saved, restarted and recovered by three blocks: describe, rebuild and release. A step adds its
 * place to each element, and looks first whether what earlier steps have added is all there. five.so ELEMENTS STEPS
 */
#include <epop/epop.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct five {
    long elements, steps, step;
    long *sums, count, first; /* this rank's elements, and the place of the first */
} five_t;

static void describe(void *data, epop_description_t *d)
{
    five_t *five = data;
    epop_describe_values(d, "step", &five->step, sizeof five->step);
    epop_describe_array(d, "sums", &five->sums, MPI_LONG, epop_dist_block(five->elements), 0);
}

static int rebuild(void *data) /* what depends on the number of ranks */
{
    five_t *five = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    five->count = epop_dist_local_count(epop_dist_block(five->elements), rank, size);
    five->first = epop_dist_global(epop_dist_block(five->elements), rank, size, 0);
    if (rank == 0)
        fprintf(stderr, "five: from step %ld on %d ranks\n", five->step, size);
    return EPOP_OK;
}

static int start(int *argc, char ***argv, void **data)
{
    five_t *five = *data = calloc(1, sizeof *five);
    five->elements = *argc > 1 ? atol((*argv)[1]) : 1000;
    five->steps = *argc > 2 ? atol((*argv)[2]) : 1000;
    if (epop_status() == EPOP_NEW && rebuild(five) == EPOP_OK) /* else the library brings them */
        five->sums = calloc((size_t)five->count + 1, sizeof *five->sums);
    return EPOP_OK;
}

static int step(void *data)
{
    five_t *five = data;
    for (long i = 0; i < five->count; five->sums[i] += five->first + i, i++)
        if (five->sums[i] != five->step * (five->first + i))
            return EPOP_ERR_ARGUMENT;
    five->step++;
    usleep(1000);
    return MPI_Barrier(epop_world());
}

static int more(void *data)
{
    return ((five_t *)data)->step < ((five_t *)data)->steps;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("five");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "steps", step, epop_adapt_described, more);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, free);
    return program;
}
