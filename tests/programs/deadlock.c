/*
 * Ranks that wait for each other at some iteration, and never meet.
 *
 * how=recv       ranks 0 and 1 each receive from the other before they send; further ranks are in a barrier
 * how=compute    rank 1 computes without end, the others wait for it in a barrier
 * how=late       as recv, until the file of while=PATH is gone
 * how=none       nothing: the control case
 * at=N           in that iteration (5)     iterations=N in all (1000000)
 * nap=US         per iteration (1000), of rank sleeper=R alone (-1: all)
 */
#include "scenario.h"

static struct {
    struct count count;
    const char *how, *while_there;
    long at, nap, sleeper;
} plan;

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    *data = &plan;
    plan.how = text_argument(arguments, "how", 0) ? text_argument(arguments, "how", 0) : "none";
    plan.while_there = text_argument(arguments, "while", 0);
    plan.at = argument(arguments, "at", 5);
    plan.count.to = argument(arguments, "iterations", 1000000);
    plan.sleeper = argument(arguments, "sleeper", -1);
    plan.nap = argument(arguments, "nap", 1000);
    say_init();
    return 0;
}

static bool is(const char *how)
{
    return !strcmp(plan.how, how) && plan.count.done == plan.at;
}

/* With `late`, rank 0 sends first once the file is gone. */
static void receive_first(void)
{
    int rank = rank_in(epop_world()), other = 1 - rank, token = 0;
    while (is("late") && rank == 0 && exists(plan.while_there))
        nap(2000);
    if (is("late") && rank == 0)
        MPI_Send(&token, 1, MPI_INT, other, 0, epop_world());
    MPI_Recv(&token, 1, MPI_INT, other, 0, epop_world(), MPI_STATUS_IGNORE);
    if (!is("late") || rank == 1)
        MPI_Send(&token, 1, MPI_INT, other, 0, epop_world());
}

static int work(void *data)
{
    (void)data;
    volatile unsigned spins = 0;
    if ((is("recv") || is("late")) && rank_in(epop_world()) < 2)
        receive_first();
    while (is("compute") && rank_in(epop_world()) == 1) {
        spins = spins + 1;
        if (spins % 1024 == 0)
            nap(1000);
    }
    MPI_Barrier(epop_world());
    if (plan.sleeper < 0 || plan.sleeper == rank_in(epop_world()))
        nap(plan.nap);
    plan.count.done++;
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "prepare", init);
    epop_add_elastic(program, "exchange", work, adapt_count, count_on);
    return program;
}
