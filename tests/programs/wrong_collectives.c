/*
 * Collective operations on the world that rank 1 calls otherwise in iteration 3. WAY: other (another function), root,
 * count, type, op, started (MPI_Ibcast with another root), more (one more), or right: nothing differs on the world, but
 * on a communicator of its own.
 */
#include "scenario.h"

static const char *way;
static int64_t step;

static int start(int *argc, char ***argv, void **data)
{
    (void)data;
    way = *argc > 1 ? (*argv)[1] : "right";
    return 0;
}

static bool is(const char *what)
{
    return !strcmp(way, what) && step == 3 && rank_in(epop_world()) == 1;
}

static int work(void *data)
{
    int64_t values[4] = {step}, sum[4];
    MPI_Comm own;
    MPI_Request request;
    (void)data;
    if (is("other"))
        MPI_Barrier(epop_world());
    else
        MPI_Bcast(values, is("count") ? 3 : 2, is("type") ? MPI_INT32_T : MPI_INT64_T, is("root"), epop_world());
    MPI_Ibcast(values, 2, MPI_INT64_T, is("started"), epop_world(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(values, sum, 1, MPI_INT64_T, is("op") ? MPI_MAX : MPI_SUM, epop_world());
    if (is("more"))
        MPI_Barrier(epop_world());
    MPI_Comm_split(epop_world(), rank_in(epop_world()) == 1, 0, &own);
    if (rank_in(epop_world()) == 1)
        MPI_Barrier(own);
    return MPI_Comm_free(&own) || ++step < 0;
}

static int more(void *data)
{
    int64_t last = step;
    (void)data;
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return last < 6;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_collectives");
    epop_add_init(program, "start", start);
    epop_add_rigid(program, "work", work, more);
    return program;
}
