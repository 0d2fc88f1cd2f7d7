/*
 * A phase whose iteration has loops that are known: OUTER turns of one that begins with MPI_Allreduce, and in each
 * INNER turns of one that is MPI_Barrier. Then it meets once more.
 *
 * iterations=N  then it ends
 * sleep=US      in each inner turn
 * kill=N        in iteration N it is killed, in the midst of its last inner loop
 */
#include "scenario.h"

#include <signal.h>

enum { OUTER = 3, INNER = 5 };

struct loops {
    int64_t done, iterations, kill;
    long sleep;
};

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    struct loops *l = calloc(1, sizeof *l);
    if (!l)
        return EPOP_ERR_MEMORY;
    *data = l;
    l->iterations = argument(arguments, "iterations", 0);
    l->kill = argument(arguments, "kill", -1);
    l->sleep = argument(arguments, "sleep", 0);
    say_init();
    return 0;
}

static int work(void *data)
{
    struct loops *l = data;
    int one = 1, all;
    for (int outer = 0; outer < OUTER; outer++) {
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, epop_world()); /* OUTER */
        for (int inner = 0; inner < INNER; inner++) {
            MPI_Barrier(epop_world()); /* INNER */
            if (l->done == l->kill && outer == OUTER - 1 && inner == INNER / 2)
                raise(SIGKILL);
            nap(l->sleep);
        }
    }
    MPI_Bcast(&all, 1, MPI_INT, 0, epop_world());
    l->done++;
    return 0;
}

static int more(void *data)
{
    const struct loops *l = data;
    return l->iterations == 0 || l->done < l->iterations;
}

static void describe(void *data, epop_description_t *description)
{
    struct loops *l = data;
    epop_describe_values(description, "done", &l->done, sizeof l->done);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, epop_adapt_described, more);
    epop_describe(program, describe);
    return program;
}
