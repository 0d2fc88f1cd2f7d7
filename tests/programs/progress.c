/*
 * A program that says how far it is: iterations=N of work=US microseconds of work in all, shared by the ranks (a nap of
 * work / ranks each). Rank 0 prints a line every lines=N iterations (0: none).
 */
#include "scenario.h"

static struct {
    struct count count;
    long work, lines;
} plan;

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    *data = &plan;
    plan.count.to = argument(arguments, "iterations", 1000);
    plan.work = argument(arguments, "work", 10000);
    plan.lines = argument(arguments, "lines", 0);
    say_init();
    return 0;
}

static int work(void *data)
{
    (void)data;
    nap(plan.work / size_of(epop_world()));
    plan.count.done++;
    if (plan.lines && plan.count.done % plan.lines == 0 && rank_in(epop_world()) == 0) {
        printf("line %d of the program\n", (int)(plan.count.done / plan.lines));
        fflush(stdout);
    }
    return 0;
}

static void how_far(void *data, epop_progress_t *progress)
{
    (void)data;
    progress->iteration = plan.count.done;
    progress->bound = plan.count.to;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "prepare", init);
    int pc = epop_add_elastic(program, "work", work, adapt_count, count_on);
    program->elements[pc].progress = how_far;
    return program;
}
