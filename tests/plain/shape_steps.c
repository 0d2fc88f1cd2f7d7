/*
 * The shape of a small test of the time when the calls were in mpi.h: a loop that computes without messages, with one
 * function at its end that probes and adapts, which joining processes call before the loop. They repeat the turn that
 * they are told.
 *     shape_steps OUTPUT FILE TURNS     until FILE exists, or so many turns if TURNS is not 0
 * A leaving process takes part in the broadcasts in the window, and asks for its rank after commit.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, size, status;
static long turn = 1;
static unsigned long long sum;

static void adapt(void)
{
    int pending, staying, leaving, joining;
    MPI_Info info;
    MPI_Comm between, after;
    MPI_Probe_adapt(&pending, &status, &info);
    if (pending == MPI_ADAPT_TRUE) {
        MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
        MPI_Bcast(&turn, 1, MPI_LONG, 0, after);
        MPI_Bcast(&sum, 1, MPI_UNSIGNED_LONG_LONG, 0, after);
        MPI_Comm_adapt_commit();
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
}

static int goes_on(char **argv)
{
    return atol(argv[3]) ? turn <= atol(argv[3]) : access(argv[2], F_OK) != 0;
}

int main(int argc, char **argv)
{
    const struct timespec work = {.tv_nsec = atol(argv[3]) ? 0 : 500000}; /* the run to compare with is to be short */
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status == MPI_ADAPT_STATUS_JOINING)
        adapt();
    for (; goes_on(argv); turn++) {
        sum = sum * 31 + (unsigned long long)turn;
        nanosleep(&work, NULL);
        adapt();
    }
    if (rank == 0 && status != MPI_ADAPT_STATUS_JOINING)
        printf("%ld turns, result %llu\n", turn - 1, sum);
    MPI_Finalize();
    return 0;
}
