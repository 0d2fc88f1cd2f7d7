/*
 * What the elastic MPI calls take, as in chapter 12 of I. Compres (TU Muenchen 2017): a program that is launched,
 * probes while nothing is to be done, and is resized once. calls SIZE         mpiexec -n 2 build/ch3-sock/bench/calls 4
 *     calls plain        MPI_Init instead, to compare
 * A line of JSON for each call and for each part of the ranks: those that are new (launched), joining, staying and
 * leaving. Seconds: mean, standard deviation and longest of the ranks.
 */
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INIT, PROBE, PROBE_TRUE, BEGIN, COMMIT, CALLS };
enum { PROBES = 1000 };

static const char *const names[] = {"MPI_Init_adapt", "MPI_Probe_adapt", "MPI_Probe_adapt, true",
                                    "MPI_Comm_adapt_begin", "MPI_Comm_adapt_commit"};
static double took[CALLS];
static int before, after; /* sizes */

/* Before MPI is there. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Of those ranks that are part of it; a line by rank 0 of the communicator. */
static void tell(MPI_Comm comm, const char *call, const char *part, bool is_part, double seconds)
{
    int rank;
    double sums[3] = {is_part, is_part ? seconds : 0, is_part ? seconds * seconds : 0}, longest = sums[1];
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (rank || !sums[0])
        return;
    double mean = sums[1] / sums[0], variance = sums[2] / sums[0] - mean * mean;
    printf(
        "{\"call\": \"%s\", \"part\": \"%s\", \"ranks\": %d, \"from\": %d, \"to\": %d, \"mean\": %.9f, \"deviation\": "
        "%.9f, \"most\": %.9f}\n",
        call, part, (int)sums[0], before, after, mean, variance > 0 ? sqrt(variance) : 0, longest);
    fflush(stdout);
}

static void probe_nothing(void)
{
    int pending, status;
    double begin = now();
    for (int i = 0; i < PROBES; i++)
        MPI_Probe_adapt(&pending, &status, NULL);
    took[PROBE] = (now() - begin) / PROBES;
}

/* Until the change is there; its last probe is the one that says so. */
static int await(int size)
{
    int pending = MPI_ADAPT_FALSE, status = MPI_ADAPT_STATUS_STAYING;
    bool asked = false;
    while (pending == MPI_ADAPT_FALSE) {
        asked = asked || epop_request_resize(size) == EPOP_OK;
        double begin = now();
        MPI_Probe_adapt(&pending, &status, NULL);
        took[PROBE_TRUE] = now() - begin;
        if (pending != MPI_ADAPT_FALSE)
            break;
        usleep(200); /* those that start need the cores */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return status;
}

/* The ranks of before and of after are told of in the window, where all of them are. */
static void adapt(int status)
{
    int staying, leaving, joining;
    MPI_Comm between, next;
    epop_window_t window;
    double begin = now();
    MPI_Comm_adapt_begin(&between, &next, &staying, &leaving, &joining);
    took[BEGIN] = now() - begin;
    epop_mpi_window(&window);
    before = window.old_size;
    after = window.new_size;
    bool joins = status == MPI_ADAPT_STATUS_JOINING, leaves = status == MPI_ADAPT_STATUS_LEAVING;
    for (int call = INIT; call <= BEGIN; call++) {
        tell(window.all, names[call], "joining", joins && (call == INIT || call == BEGIN), took[call]);
        tell(window.all, names[call], "staying", !joins && !leaves && call > INIT, took[call]);
        tell(window.all, names[call], "leaving", leaves && call > PROBE, took[call]);
    }
    begin = now();
    MPI_Comm_adapt_commit();
    took[COMMIT] = now() - begin;
    if (leaves)
        return;
    tell(MPI_COMM_WORLD, names[COMMIT], "joining", joins, took[COMMIT]);
    tell(MPI_COMM_WORLD, names[COMMIT], "staying", !joins, took[COMMIT]);
}

static int measure_plain(int *argc, char ***argv)
{
    double begin = now();
    MPI_Init(argc, argv);
    took[INIT] = now() - begin;
    MPI_Comm_size(MPI_COMM_WORLD, &before);
    after = before;
    tell(MPI_COMM_WORLD, "MPI_Init", "new", true, took[INIT]);
    return MPI_Finalize();
}

int main(int argc, char **argv)
{
    int status, size = argc > 1 ? atoi(argv[1]) : 0;
    if (argc > 1 && !strcmp(argv[1], "plain"))
        return measure_plain(&argc, &argv);
    if (size < 1)
        return 2;
    double begin = now();
    MPI_Init_adapt(&argc, &argv, &status);
    took[INIT] = now() - begin;
    if (status != MPI_ADAPT_STATUS_JOINING) {
        MPI_Comm_size(MPI_COMM_WORLD, &before);
        after = before;
        tell(MPI_COMM_WORLD, names[INIT], "new", true, took[INIT]);
        probe_nothing();
        status = await(size);
    }
    adapt(status);
    return MPI_Finalize();
}
