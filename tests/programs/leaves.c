/* An EPOP program with the elastic calls, which asks its leaving ranks to end in commit; runs until the file exists. */
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <unistd.h>

static const char *end;

static int init(int *argc, char ***argv, void **data)
{
    int status;
    (void)data;
    end = *argc > 1 ? (*argv)[1] : "";
    MPI_Init_adapt(argc, argv, &status);
    return epop_mpi_leave(EPOP_MPI_LEAVE_COMMIT);
}

static int turn(void *data)
{
    (void)data;
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int more(void *data)
{
    int ended = access(end, F_OK) == 0;
    (void)data;
    MPI_Bcast(&ended, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return !ended;
}

static int adapt(void *data)
{
    MPI_Comm between, world;
    int pending, status, counts[3];
    (void)data;
    MPI_Probe_adapt(&pending, &status, NULL);
    MPI_Comm_adapt_begin(&between, &world, &counts[0], &counts[1], &counts[2]);
    MPI_Comm_adapt_commit();
    if (status == MPI_ADAPT_STATUS_LEAVING)
        printf("commit returned\n");
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *p = epop_program_create("leaves");
    epop_add_init(p, "init", init);
    epop_add_elastic(p, "turns", turn, adapt, more);
    return p;
}
