/*
 * A valid program with MPI in which the rank EPOP_TEST_RANK (every rank if it is not set) does what EPOP_TEST_FAULT
 * says, while the others wait for it in a barrier. Alone it asks for a second rank until that is there, or for
 * EPOP_TEST_ALONE seconds.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <epop/epop.h>

#include "parts.h"

static int iterations;

static int rank(void)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    return rank;
}

static int my_fault_is(const char *name)
{
    const char *chosen = getenv("EPOP_TEST_RANK");
    return fault_is(name) && (!chosen || atoi(chosen) == rank());
}

static void on_alarm(int number)
{
    (void)number;
    _exit(0);
}

/* A limit of the program's own, which it meets within MPI. */
static void end_by_alarm(void)
{
    char byte;
    signal(SIGALRM, on_alarm);
    ualarm(20000, 0);
    MPI_Recv(&byte, 1, MPI_CHAR, MPI_ANY_SOURCE, 7, epop_world(), MPI_STATUS_IGNORE);
}

/* Not by returning from the block. */
static void end_if_asked(const char *block)
{
    const char *chosen = getenv("EPOP_TEST_RANK");
    if (chosen && atoi(chosen) != rank())
        return;
    exit_if_asked(block);
    if (fault_is("alarm") && strcmp(block, "exec") == 0)
        end_by_alarm();
    if (fault_is("abort") && strcmp(block, "exec") == 0)
        MPI_Abort(MPI_COMM_WORLD, 0);
}

static int start(int *argc, char ***argv, void **data)
{
    (void)argc, (void)argv, (void)data;
    end_if_asked("init");
    if (my_fault_is("init") || (my_fault_is("join") && epop_status() == EPOP_JOINING))
        return 41;
    return 0;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Every now and then: that may be called off. */
static void ask_for_two(void)
{
    static double asked;
    if (now() - asked < 0.05)
        return;
    asked = now();
    epop_request_resize(2);
}

static int work(void *data)
{
    (void)data;
    int size;
    MPI_Comm_size(epop_world(), &size);
    if (iterations == 2)
        end_if_asked("exec");
    if (iterations == 2 && my_fault_is("exec"))
        return EPOP_ERR_MEMORY;
    MPI_Barrier(epop_world());
    if (size == 1)
        ask_for_two();
    iterations++;
    return 0;
}

static double patience(void)
{
    const char *seconds = getenv("EPOP_TEST_ALONE");
    return seconds ? atof(seconds) : 60;
}

/* One rank goes on until the second one is there; two count alike. */
static int more(void *data)
{
    static double begin;
    int size;
    (void)data;
    MPI_Comm_size(epop_world(), &size);
    if (begin == 0)
        begin = now();
    end_if_asked("loop_condition");
    return size == 1 ? now() - begin < patience() : iterations < 5;
}

static int adapt(void *data)
{
    (void)data;
    epop_window_t window;
    end_if_asked("adapt");
    if (my_fault_is("adapt"))
        return 43;
    if (my_fault_is("no-window"))
        return 0;
    int result = epop_adapt_begin(&window);
    if (result == EPOP_OK)
        result = epop_redist_replicated(&window, &iterations, 1, MPI_INT);
    if (result != EPOP_OK || my_fault_is("no-commit"))
        return result;
    if (fault_is("adapt-in-window") && window.status == EPOP_JOINING)
        return 44;
    return epop_adapt_commit();
}

static int turn(int pc, void *data)
{
    (void)data;
    end_if_asked("branch_condition");
    return my_fault_is("branch-to-init") ? 0 : my_fault_is("branch-beyond") ? 99 : pc + 1;
}

static int report(void *data)
{
    (void)data;
    int size;
    MPI_Comm_size(epop_world(), &size);
    if (rank() == 0)
        printf("ended with %d of 2 ranks\n", size);
    return my_fault_is("last") ? 45 : 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("mpi_faults");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "work", work, adapt, more);
    epop_add_branch(program, "turn", turn);
    epop_add_rigid(program, "report", report, NULL);
    return program;
}
