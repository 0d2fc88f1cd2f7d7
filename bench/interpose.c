/*
 * What the layer between a program and MPI costs while nobody observes: MPI_X, which meets the wrapper, beside PMPI_X,
 * which does not, in turn. The world is MPI_COMM_WORLD itself, or another one in its place.
 *
 *     mpiexec -n 2 build/bench/interpose
 *
 * Prints a JSON line per case: nanoseconds with and without, and the difference.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "interpose/interpose.h"

enum { ROUNDS = 41 };

static MPI_Comm with_world, without_world; /* MPI_COMM_WORLD, and what it stands for */
static int rank, size;
static char bytes[1024];

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void rank_with(long calls)
{
    for (int me; calls-- > 0;)
        MPI_Comm_rank(with_world, &me);
}

static void rank_without(long calls)
{
    for (int me; calls-- > 0;)
        PMPI_Comm_rank(without_world, &me);
}

/* A message to oneself: three calls. */
static void message_with(long calls)
{
    MPI_Request request;
    while (calls-- > 0) {
        MPI_Irecv(bytes, 8, MPI_CHAR, rank, 0, with_world, &request);
        MPI_Send(bytes + 512, 8, MPI_CHAR, rank, 0, with_world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void message_without(long calls)
{
    MPI_Request request;
    while (calls-- > 0) {
        PMPI_Irecv(bytes, 8, MPI_CHAR, rank, 0, without_world, &request);
        PMPI_Send(bytes + 512, 8, MPI_CHAR, rank, 0, without_world);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* There and back: two calls per rank. */
static void ping_pong_with(long calls)
{
    for (int me = rank; calls-- > 0;) {
        if (me == 0)
            MPI_Send(bytes, 8, MPI_CHAR, 1, 0, with_world);
        MPI_Recv(bytes, 8, MPI_CHAR, 1 - me, 0, with_world, MPI_STATUS_IGNORE);
        if (me == 1)
            MPI_Send(bytes, 8, MPI_CHAR, 0, 0, with_world);
    }
}

static void ping_pong_without(long calls)
{
    for (int me = rank; calls-- > 0;) {
        if (me == 0)
            PMPI_Send(bytes, 8, MPI_CHAR, 1, 0, without_world);
        PMPI_Recv(bytes, 8, MPI_CHAR, 1 - me, 0, without_world, MPI_STATUS_IGNORE);
        if (me == 1)
            PMPI_Send(bytes, 8, MPI_CHAR, 0, 0, without_world);
    }
}

static double time_calls(void (*function)(long), long calls)
{
    double begin = now_ns();
    function(calls);
    return (now_ns() - begin) / (double)calls;
}

/* In turn; of each the fastest round, as what disturbs one only ever makes it slower. */
static void compare(const char *name, const char *world, void (*with)(long), void (*without)(long), long calls)
{
    double with_ns = INFINITY, without_ns = INFINITY;
    for (int r = 0; r < ROUNDS; r++) {
        with_ns = fmin(with_ns, time_calls(with, calls));
        without_ns = fmin(without_ns, time_calls(without, calls));
    }
    if (rank == 0)
        printf("{\"bench\":\"interpose\",\"case\":\"%s\",\"world\":\"%s\",\"with_ns\":%.2f,\"without_ns\":%.2f,"
               "\"added_ns\":%.2f,\"ratio\":%.3f}\n",
               name, world, with_ns, without_ns, with_ns - without_ns, with_ns / without_ns);
}

static void compare_all(const char *world)
{
    compare("MPI_Comm_rank", world, rank_with, rank_without, 200000);
    compare("message to oneself", world, message_with, message_without, 20000);
    if (size == 2)
        compare("ping-pong", world, ping_pong_with, ping_pong_without, 5000);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    with_world = without_world = MPI_COMM_WORLD;
    compare_all("as launched");
    PMPI_Comm_dup(MPI_COMM_WORLD, &other);
    atomic_store(&epop__interpose.world, without_world = other);
    compare_all("another");
    atomic_store(&epop__interpose.world, MPI_COMM_WORLD);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
