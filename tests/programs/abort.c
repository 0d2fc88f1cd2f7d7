/* Rank 1 calls MPI_Abort with the code that the argument says, while the others wait for it. */
#include <stdlib.h>

#include <epop/epop.h>

static int code;

static int init(int *argc, char ***argv, void **data)
{
    (void)data;
    code = *argc > 1 ? atoi((*argv)[1]) : 1;
    return 0;
}

static int abort_or_wait(void *data)
{
    int rank;
    (void)data;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Abort(MPI_COMM_WORLD, code);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("abort");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "abort or wait", abort_or_wait, NULL);
    return program;
}
