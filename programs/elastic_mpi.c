/*
 * The elastic MPI calls in an EPOP program, in the shape of listing 7.6 (Compres 2017): INIT calls MPI_Init_adapt, the
 * adapt block begin and commit, and the last block MPI_Finalize, which is left to the driver. It counts turns.
 *     mpiexec.mpich -n 2 epop elastic_mpi [TURNS]
 */
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>

struct turns {
    long made, wanted;
    int status;
};

static int init(int *argc, char ***argv, void **data)
{
    struct turns *turns = calloc(1, sizeof *turns);
    if (!turns)
        return EPOP_ERR_MEMORY;
    *data = turns;
    turns->wanted = *argc > 1 ? atol((*argv)[1]) : 1000;
    return MPI_Init_adapt(argc, argv, &turns->status);
}

static int turn(void *data)
{
    struct turns *turns = data;
    long least = turns->made;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    if (least != turns->made)
        return EPOP_ERR_STATE;
    turns->made++;
    return 0;
}

static int more(void *data)
{
    const struct turns *turns = data;
    return turns->made < turns->wanted;
}

/* Joining ranks learn how many turns were made. */
static int adapt(void *data)
{
    struct turns *turns = data;
    int pending, staying, leaving, joining;
    MPI_Comm between, world;
    int error = MPI_Probe_adapt(&pending, &turns->status, NULL);
    if (error || !pending)
        return EPOP_ERR_STATE;
    error = MPI_Comm_adapt_begin(&between, &world, &staying, &leaving, &joining);
    if (!error && turns->status == MPI_ADAPT_STATUS_JOINING) {
        error = MPI_Bcast(&turns->made, 1, MPI_LONG, 0, between);
    } else if (!error && joining) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        error = MPI_Bcast(&turns->made, 1, MPI_LONG, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    }
    if (!error)
        error = MPI_Comm_adapt_commit();
    if (turns->status == MPI_ADAPT_STATUS_LEAVING)
        free(turns);
    return error;
}

static int fini(void *data)
{
    const struct turns *turns = data;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("%ld turns, at the end on %d ranks\n", turns->made, size);
    free(data);
    return MPI_Finalize();
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("elastic_mpi");
    if (!program)
        return NULL;
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "turn", turn, adapt, more);
    program->finalizer = epop_add_rigid(program, "fini", fini, NULL);
    return program;
}
