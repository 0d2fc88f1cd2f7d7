/*
 * Two elastic phases and a branch that goes back to the first: the published example of a double-phase program, with
 * the short names of its listing and the branch of its figure (Compres 2017, listing 7.6, figure 7.1).
 *
 *     mpiexec.mpich -n 4 epop --start 2 double_phase.so [iterations per phase] [repetitions] [microseconds of each]
 */
#define EPOP_SHORT_NAMES
#include <epop/epop.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct state {
    int64_t iterations, repetitions, microseconds; /* from the command line */
    int64_t iteration, repetition, total;          /* the same on every rank */
};

static int initialize(int *argc, char ***argv, void **data)
{
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return EPOP_ERR_MEMORY;
    state->iterations = *argc > 1 ? atoll((*argv)[1]) : 10;
    state->repetitions = *argc > 2 ? atoll((*argv)[2]) : 3;
    state->microseconds = *argc > 3 ? atoll((*argv)[3]) : 1000;
    *data = state;
    return 0;
}

/* Each rank adds up its part of 1 .. 1000; whatever the number of ranks, all get 500500. */
static int64_t sum_up(const struct state *state)
{
    int rank, size;
    int64_t sum = 0;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    for (int64_t i = rank + 1; i <= 1000; i += size)
        sum += i;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, epop_world());
    struct timespec work = {state->microseconds / 1000000, state->microseconds % 1000000 * 1000};
    nanosleep(&work, NULL);
    return sum;
}

static int first_exec(void *data)
{
    struct state *state = data;
    state->total += sum_up(state);
    state->iteration++;
    return 0;
}

static int second_exec(void *data)
{
    struct state *state = data;
    state->total -= 2 * sum_up(state);
    state->iteration++;
    return 0;
}

/* Joining ranks get the counters; there is nothing else to move. Both phases do the same here. */
static int adapt(void *data)
{
    struct state *state = data;
    epop_window_t window = {0};
    int error = epop_adapt_begin(&window);
    if (error == 0)
        error = epop_redist_replicated(&window, state, sizeof *state / sizeof(int64_t), MPI_INT64_T);
    if (error == 0)
        error = epop_adapt_commit();
    if (window.status == EPOP_LEAVING)
        free(state);
    return error;
}

static int loop_condition(void *data)
{
    struct state *state = data;
    if (state->iteration < state->iterations)
        return 1;
    state->iteration = 0;
    return 0;
}

static int again(int pc, void *data)
{
    struct state *state = data;
    return ++state->repetition < state->repetitions ? 1 : pc + 1;
}

static int report(void *data)
{
    struct state *state = data;
    int rank, right = state->total == -state->repetitions * state->iterations * 500500;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("double_phase: total %lld after %lld repetitions: %s\n", (long long)state->total,
               (long long)state->repetition, right ? "right" : "WRONG");
    free(state);
    return right ? 0 : 1;
}

program_t *get_program(void)
{
    program_t *program = malloc(sizeof(program_t));
    if (epop_alloc_phases(&program, 5))
        return NULL;

    program->elements[0].type = INIT;
    program->elements[0].phase_exec = initialize;

    program->elements[1].type = EP;
    program->elements[1].name = "first";
    program->elements[1].phase_adapt = adapt;
    program->elements[1].phase_exec = first_exec;
    program->elements[1].loop_condition = loop_condition;

    program->elements[2].type = EP;
    program->elements[2].name = "second";
    program->elements[2].phase_adapt = adapt;
    program->elements[2].phase_exec = second_exec;
    program->elements[2].loop_condition = loop_condition;

    program->elements[3].type = BRANCH;
    program->elements[3].name = "again?";
    program->elements[3].branch_condition = again;

    program->elements[4].type = RP;
    program->elements[4].name = "report";
    program->elements[4].phase_exec = report;
    return program;
}
