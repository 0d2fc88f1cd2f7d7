/*
 * Process 0 waits for a signal (signal=NUMBER) in each of its iterations (iterations=3), as a program does that lets a
 * batch system warn it: blocked in its own thread, taken by sigwait. Nobody else's thread may take it.
 */
#include <signal.h>

#include "scenario.h"

static int64_t iteration, iterations;
static int wanted;
static sigset_t warning;

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    (void)data;
    iterations = argument(arguments, "iterations", 3);
    sigemptyset(&warning);
    wanted = (int)argument(arguments, "signal", SIGUSR1);
    sigaddset(&warning, wanted);
    pthread_sigmask(SIG_BLOCK, &warning, NULL);
    say_init();
    return 0;
}

static int work(void *data)
{
    int number = 0;
    (void)data;
    iteration++;
    if (rank_in(epop_world()) != 0)
        return 0;
    printf("waits %d\n", (int)iteration);
    fflush(stdout);
    return sigwait(&warning, &number) || number != wanted;
}

static int more(void *data)
{
    (void)data;
    MPI_Barrier(epop_world());
    return iteration < iterations;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "init", init);
    epop_add_rigid(program, "work", work, more);
    return program;
}
