/*
 * Its exec block leaves one thing more behind in every iteration, the kind that the first argument names; or, with
 * "kept", makes one of most in the first iteration alone, and starts a receive in each that the next one completes. The
 * second argument is the number of iterations.
 */
#include "scenario.h"

static const char *way = "right";
static int iterations, wanted = 5, number[2];
static MPI_Request request = MPI_REQUEST_NULL;

static int init(int *argc, char ***argv, void **data)
{
    (void)data;
    way = *argc > 1 ? (*argv)[1] : way;
    wanted = *argc > 2 ? atoi((*argv)[2]) : wanted;
    return 0;
}

static bool makes(const char *kind)
{
    return !strcmp(way, kind) || (!strcmp(way, "kept") && iterations == 0);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void make(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Group group;
    MPI_Op op;
    MPI_Win win;
    MPI_Info info;
    if (makes("communicators"))
        MPI_Comm_dup(epop_world(), &comm);
    if (!strcmp(way, "datatypes"))
        MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    if (makes("groups"))
        MPI_Comm_group(epop_world(), &group);
    if (makes("operations"))
        MPI_Op_create(add, 1, &op);
    if (!strcmp(way, "windows")) /* and MPI itself says so of these two */
        MPI_Win_create(number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    if (makes("infos"))
        MPI_Info_create(&info);
}

/* A message to oneself, of which the receive is completed an iteration later, or never. */
static void exchange(void)
{
    int rank = rank_in(epop_world());
    if (!strcmp(way, "requests"))
        request = MPI_REQUEST_NULL;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (iterations + 1 < wanted || !strcmp(way, "requests"))
        MPI_Irecv(number, 1, MPI_INT, rank, 1, epop_world(), &request);
    if (iterations + 1 < wanted || !strcmp(way, "requests"))
        MPI_Send(number + 1, 1, MPI_INT, rank, 1, epop_world());
}

static int work(void *data)
{
    (void)data;
    make();
    exchange();
    return 0;
}

static int more(void *data)
{
    (void)data;
    return ++iterations < wanted;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_leaks");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "work", work, more);
    return program;
}
