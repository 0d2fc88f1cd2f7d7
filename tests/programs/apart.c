/*
 * A rigid phase in which rank 1 needs in iteration i what rank 0 sends in iteration i + 1: right, as nothing in it says
 * that the ranks keep step. Arguments: iterations; "wrong": rank 1 stops one iteration early.
 */
#include "scenario.h"

static int iterations, done, early;

static int init(int *argc, char ***argv, void **data)
{
    (void)data;
    iterations = *argc > 1 ? atoi((*argv)[1]) : 3;
    early = *argc > 2 && rank_in(epop_world()) == 1;
    return 0;
}

static int work(void *data)
{
    int number = 0;
    (void)data;
    done++;
    if (rank_in(epop_world()) == 0 && done > 1)
        return MPI_Send(&number, 1, MPI_INT, 1, 0, epop_world());
    if (rank_in(epop_world()) == 1 && done < iterations)
        return MPI_Recv(&number, 1, MPI_INT, 0, 0, epop_world(), MPI_STATUS_IGNORE);
    return 0;
}

static int more(void *data)
{
    (void)data;
    return done < iterations - early;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("apart");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "work", work, more);
    return program;
}
