/*
 * Iterates until the file exists; what a process does once it has left is what FILE.action says then: see act(). In C
 * and C++.
 *     adapt_leave FILE
 * With $LEAVE_BY=commit or return, or another word, the program says how it leaves. "left" is printed when a process
 * has come back from commit, "through" by a handler of exit() in one that leaves, "at the end" by rank 0.
 */
#include <epop/mpi_adapt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char action[32];
static long iteration;
static int gone, leaving;

static int is(const char *what)
{
    return !strcmp(action, what);
}

static void on_exit_of_main(void)
{
    if (gone && is("atexit"))
        exit(3);
    if (leaving)
        printf("through\n");
}

/* Errors are the program's if it wants them, and the probe goes on to answer. */
static void look_at_errors(void)
{
    int size, error_class = MPI_SUCCESS, pending, status;
    MPI_Error_class(MPI_Comm_size(MPI_COMM_WORLD, &size), &error_class);
    MPI_Probe_adapt(&pending, &status, NULL);
    if (error_class == MPI_ERR_COMM && pending == MPI_ADAPT_FALSE && status == MPI_ADAPT_STATUS_LEAVING)
        printf("as promised\n");
}

/* Most of it unfit for a process that has left. */
static int act(void)
{
    int size, rank;
    MPI_Comm between, after;
    int counts[3];
    if (is("world")) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    if (is("returns"))
        look_at_errors();
    if (is("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (is("begin"))
        MPI_Comm_adapt_begin(&between, &after, &counts[0], &counts[1], &counts[2]);
    if (is("segv"))
        raise(SIGSEGV);
    if (is("abort"))
        abort();
    if (is("mpi_abort"))
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (is("term"))
        raise(SIGTERM);
    if (is("_exit"))
        _exit(3);
    if (is("quick_exit"))
        quick_exit(3);
    if (is("exit"))
        exit(3);
    if (is("late"))
        MPI_Finalize();
    if (is("late"))
        abort();
    while (is("hang"))
        pause();
#ifdef __cplusplus
    if (is("throw"))
        throw 3;
#endif
    return 3;
}

static void read_action(const char *end)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.action", end);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%31s", action) == 1)
        fclose(file);
}

static void adapt(int status, const char *end)
{
    MPI_Comm between, after;
    int counts[3];
    MPI_Comm_adapt_begin(&between, &after, &counts[0], &counts[1], &counts[2]);
    if (after != MPI_COMM_NULL)
        MPI_Bcast(&iteration, 1, MPI_LONG, 0, after);
    leaving = status == MPI_ADAPT_STATUS_LEAVING;
    if (leaving)
        read_action(end);
    if (is("returns"))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_adapt_commit();
    gone = leaving;
}

static void choose(void)
{
    const char *by = getenv("LEAVE_BY");
    if (!by)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (epop_mpi_leave(!strcmp(by, "commit")   ? EPOP_MPI_LEAVE_COMMIT
                       : !strcmp(by, "return") ? EPOP_MPI_LEAVE_RETURN
                                               : (epop_mpi_leave_t)7))
        printf("refused\n");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int status, pending, rank, more = 1;
    atexit(on_exit_of_main);
    MPI_Init_adapt(&argc, &argv, &status);
    choose();
    if (status == MPI_ADAPT_STATUS_JOINING)
        adapt(status, argv[1]);
    while (more) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt(status, argv[1]);
        if (gone) {
            printf("left\n");
            fflush(stdout);
            return act();
        }
        more = access(argv[1], F_OK) != 0;
        usleep(1000); /* leaves the cores to those that start and end */
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        iteration++;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        printf("at the end\n");
    MPI_Finalize();
    return 0;
}
