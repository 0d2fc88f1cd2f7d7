/*
 * A program that says how far it is: iterations=N of work=US microseconds of work in all, shared by the ranks (a nap of
 * work / ranks each). Rank 0 prints a line every lines=N iterations (0: none).
 */
#include "scenario.h"

static struct {
    long iterations, work, lines;
    int64_t iteration;
} plan;

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    (void)data;
    plan.iterations = argument(arguments, "iterations", 1000);
    plan.work = argument(arguments, "work", 10000);
    plan.lines = argument(arguments, "lines", 0);
    printf("init new rank %d of %d in process %d\n", rank_in(epop_world()), size_of(epop_world()), (int)getpid());
    fflush(stdout);
    return 0;
}

static int work(void *data)
{
    (void)data;
    nap(plan.work / size_of(epop_world()));
    plan.iteration++;
    if (plan.lines && plan.iteration % plan.lines == 0 && rank_in(epop_world()) == 0) {
        printf("line %d of the program\n", (int)(plan.iteration / plan.lines));
        fflush(stdout);
    }
    return 0;
}

static int more(void *data)
{
    (void)data;
    return plan.iteration < plan.iterations;
}

static int adapt(void *data)
{
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    (void)data;
    if (!error)
        error = epop_redist_replicated(&window, &plan.iteration, 1, MPI_INT64_T);
    return error ? error : epop_adapt_commit();
}

static void how_far(void *data, epop_progress_t *progress)
{
    (void)data;
    progress->iteration = plan.iteration;
    progress->bound = plan.iterations;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "prepare", init);
    int pc = epop_add_elastic(program, "work", work, adapt, more);
    program->elements[pc].progress = how_far;
    return program;
}
