/*
 * An elastic MPI program with loops that are known: the marks "BEGIN name" and "END name" stand where a loop's first
 * and last MPI calls are. loops END SECOND Until the file SECOND exists it is in its first loop, then in its second
 * one; END ends it. In the first one even ranks send first and odd ones receive first, in a loop of its own; rank 0
 * alone has one more. Both call the same function, which calls MPI.
 */
#include <epop/describe.h>
#include <epop/mpi_adapt.h>
#include <stdlib.h>
#include <unistd.h>

static struct state {
    long step;
} state;
static int rank, size, number, got;

static void describe(void *data, epop_description_t *description)
{
    struct state *s = data;
    epop_describe_values(description, "step", &s->step, sizeof s->step);
}

/* From rank 0, as all have to see the same. */
static int exists(const char *file)
{
    int is = rank == 0 && access(file, F_OK) == 0;
    MPI_Bcast(&is, 1, MPI_INT, 0, MPI_COMM_WORLD); /* SHARED */
    return is;
}

static void to_and_fro(void)
{
    int peer = rank ^ 1, tag = 0;
    for (int turn = 0; turn < 4 && peer < size; turn++) {
        if (rank < peer) {
            MPI_Send(&number, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);                 /* BEGIN exchange */
            MPI_Recv(&got, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* END exchange */
        } else {
            MPI_Recv(&got, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
        }
    }
}

static void of_rank_0(void)
{
    for (int turn = 0; turn < 3; turn++)
        MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, /* BEGIN alone */
                     MPI_STATUS_IGNORE);
}

/* Nonzero: this process leaves. */
static int adapt(void)
{
    int pending, status;
    MPI_Probe_adapt(&pending, &status, NULL);
    if (pending == MPI_ADAPT_TRUE)
        epop_mpi_adapt_described();
    if (status == MPI_ADAPT_STATUS_LEAVING)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state.step++;
    return 0;
}

static void first(void)
{
    MPI_Allreduce(&number, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* BEGIN first */
    to_and_fro();
    if (rank == 0)
        of_rank_0();
    usleep(20000); /* what it computes */
}

/* All wait for rank 0. */
static void second(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&number, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    usleep(rank ? 10 : 5000);
}

int main(int argc, char **argv)
{
    int status, is_second = 0;
    MPI_Init_adapt(&argc, &argv, &status);
    epop_mpi_describe(describe, &state);
    while (argc == 3 && !adapt()) {
        if (is_second) {
            second();
            if (exists(argv[1]))
                break;
        } else {
            first();
            is_second = exists(argv[2]);
        }
    }
    MPI_Finalize();
    return 0;
}
