/*
 * Observes its own MPI calls, a known number of them: those inside of others, those of the runtime and those to PMPI do
 * not count, and EPOP's own do; what arguments and results the observer is shown.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epop/epop.h>

#include "interpose/interpose.h"
#include "tests/expect.h"

static int entered[INTERPOSE_FUNCTIONS], left[INTERPOSE_FUNCTIONS];
static int sum_of_counts, last_result, foreign_worlds, nested;

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    int rank;
    entered[function]++;
    *(int *)context += 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* an observer's own calls are not observed */
    if (function == INTERPOSE_MPI_Send) {
        sum_of_counts += *(int *)arguments[1];
        foreign_worlds += *(MPI_Comm *)arguments[5] != epop_world();
    }
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context, (void)arguments;
    left[function]++;
    last_result = result;
}

static int total;
static const struct interpose_hooks hooks = {enter, leave, &total};

/* A reduction operation that itself calls MPI. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    nested += size == sizeof(int);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void call_what_is_counted(void)
{
    int rank, size, one = 1, sum;
    MPI_Op op;
    MPI_Request request;
    for (int i = 0; i < 3; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(epop_world(), &size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    for (int count = 1; count <= 4; count++) {
        int from[4] = {0}, to[4];
        MPI_Irecv(to, count, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
        MPI_Send(from, count, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    (void)MPI_Wtime();
    MPI_Pcontrol(1, "more", 2);
}

static void call_what_is_not(void)
{
    int rank;
    PMPI_Barrier(MPI_COMM_WORLD);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    epop_request_resize(0);
}

/* Of each function, as the two above have it. */
static int check_counts(int times)
{
    static const struct {
        enum interpose_function function;
        int calls;
    } expected[] = {{INTERPOSE_MPI_Comm_rank, 3}, {INTERPOSE_MPI_Comm_size, 1}, {INTERPOSE_MPI_Barrier, 2},
                    {INTERPOSE_MPI_Op_create, 1}, {INTERPOSE_MPI_Allreduce, 1}, {INTERPOSE_MPI_Op_free, 1},
                    {INTERPOSE_MPI_Irecv, 4},     {INTERPOSE_MPI_Send, 4},      {INTERPOSE_MPI_Wait, 4},
                    {INTERPOSE_MPI_Wtime, 1},     {INTERPOSE_MPI_Pcontrol, 1}};
    int wrong = 0, calls = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        enum interpose_function function = expected[i].function;
        calls += expected[i].calls;
        if (entered[function] != times * expected[i].calls || left[function] != entered[function]) {
            fprintf(stderr, "WRONG: %s %d times\n", epop__interpose_name(function), entered[function]);
            wrong++;
        }
    }
    EXPECT(total == times * calls && sum_of_counts == times * 10 && foreign_worlds == 0);
    return wrong;
}

static int check_results(void)
{
    int wrong = 0, buffer = 0, error;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    epop__interpose_observe(&hooks);
    error = MPI_Send(&buffer, 0, MPI_INT, -42, 0, MPI_COMM_WORLD);
    EXPECT(error != MPI_SUCCESS && last_result == error);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(last_result == MPI_SUCCESS);
    epop__interpose_unobserve(&hooks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return wrong;
}

static int init(int *argc, char ***argv, void **data)
{
    int wrong = 0;
    (void)argc, (void)argv, (void)data;
    EXPECT(strcmp(epop__interpose_name(INTERPOSE_MPI_Send), "MPI_Send") == 0);
    EXPECT(strncmp(epop__interpose_name(INTERPOSE_OWN - 1), "MPI", 3) == 0);
    EXPECT(strcmp(epop__interpose_name(INTERPOSE_FUNCTIONS - 1), "MPIX_Session_reinit") == 0);
    return wrong;
}

/* A window with redistribution in between: of each call that it is one counts, and nothing of what the runtime does. */
static int windows;

static int adapt(void *data)
{
    epop_window_t window;
    int64_t number = windows;
    (void)data;
    epop__interpose_observe(&hooks);
    int error = epop_adapt_begin(&window);
    error = error ? error : epop_redist_replicated(&window, &number, 1, MPI_INT64_T);
    error = error ? error : epop_adapt_commit();
    epop__interpose_unobserve(&hooks);
    windows = (int)number + 1;
    bool each = left[INTERPOSE_epop_adapt_begin] == 1 && left[INTERPOSE_epop_redist_replicated] == 1 &&
                left[INTERPOSE_epop_adapt_commit] == 1 && total == 3;
    total = 0;
    return error ? error : !each;
}

static int wait_for_window(void *data)
{
    int rank;
    (void)data;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!windows)
        epop_request_resize(2);
    return 0;
}

static int no_window_yet(void *data)
{
    (void)data;
    return !windows;
}

static int count(void *data)
{
    int wrong = 0, nested_before = nested;
    (void)data;
    for (int times = 1; times <= 2; times++) {
        epop__interpose_observe(&hooks);
        call_what_is_counted();
        call_what_is_not();
        epop__interpose_unobserve(&hooks);
        call_what_is_counted();
        wrong += check_counts(times);
    }
    EXPECT(nested > nested_before || nested_before == 0);
    wrong += check_results();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !wrong)
        printf("counted, and %d calls inside of others\n", nested);
    return wrong;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("interpose_count");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "grow", wait_for_window, adapt, no_window_yet);
    program->finalizer = epop_add_rigid(program, "count", count, NULL);
    return program;
}
