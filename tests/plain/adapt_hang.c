/*
 * An executable with the elastic MPI calls whose ranks hang, each in its way (tests/programs/hang.h):
 *     adapt_hang FILE HOW...
 * iterates until FILE exists; then rank 0 does the first HOW, rank 1 the second, and so on; "fail" calls exit(3),
 * "crash" crashes. A process also crashes before it has joined if it finds FILE.joining, when it has left if it finds
 * FILE.left.
 */
#include <epop/mpi_adapt.h>
#include <signal.h>
#include <stdlib.h>

#include "../programs/hang.h"

static void crash_if(const char *file, const char *when)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", file, when);
    if (!access(path, F_OK))
        raise(SIGSEGV);
}

static void adapt(void)
{
    MPI_Comm between, after;
    int staying, leaving, joining;
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    MPI_Comm_adapt_commit();
}

static void iterate(const char *file, char **how, int count)
{
    int go = told(access(file, F_OK) == 0), rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    usleep(1000);
    if (go && rank < count)
        hang(how[rank]);
    if (go && rank < count && !strcmp(how[rank], "fail"))
        exit(3);
    if (go && rank < count && !strcmp(how[rank], "crash"))
        raise(SIGSEGV);
}

int main(int argc, char **argv)
{
    int status, pending = MPI_ADAPT_FALSE;
    MPI_Init_adapt(&argc, &argv, &status);
    if (status == MPI_ADAPT_STATUS_JOINING) {
        crash_if(argv[1], "joining");
        adapt();
    }
    while (status != MPI_ADAPT_STATUS_LEAVING || pending == MPI_ADAPT_FALSE) {
        iterate(argv[1], argv + 2, argc - 2);
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt();
    }
    if (status == MPI_ADAPT_STATUS_LEAVING)
        crash_if(argv[1], "left");
    MPI_Finalize();
    return 0;
}
