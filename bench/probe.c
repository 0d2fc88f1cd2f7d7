/*
 * What a probe costs when nothing is pending, beside no probe and beside one MPI_Bcast per iteration, which is how
 * others agree. The work of an iteration is arithmetic of a calibrated length.
 *     mpiexec.mpich -n 2 build/bench/probe
 * Prints a JSON line per length of iteration: mean nanoseconds per iteration that probe and broadcast add. The
 * additions of long iterations drown in the noise of the work, so each is timed by itself there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/member/ceiling.h"

#define ROUNDS 11

static struct ceiling ceiling;
static volatile double sink;
static double spins_per_us;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void work(long spins)
{
    double x = sink;
    for (long i = 0; i < spins; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static void calibrate(void)
{
    long spins = 20 * 1000 * 1000;
    double begin = now_ns();
    work(spins);
    spins_per_us = (double)spins / ((now_ns() - begin) / 1000);
}

enum way { NOTHING, PROBE, BROADCAST };

static inline void agree(enum way way)
{
    static int request;
    if (way == PROBE && ceiling_probe(&ceiling))
        abort();
    if (way == BROADCAST)
        MPI_Bcast(&request, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* Mean nanoseconds per iteration of the whole loop. */
static inline double time_loop(enum way way, long iterations, long spins)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_ns();
    for (long i = 0; i < iterations; i++) {
        agree(way);
        if (spins)
            work(spins);
        else
            __asm__ volatile("" ::: "memory");
    }
    return (now_ns() - begin) / (double)iterations;
}

/* Mean nanoseconds of the agreement alone, timed between two pieces of work, less what the clock takes. */
static inline double time_alone(enum way way, long iterations, long spins)
{
    double sum = 0, clock = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < iterations; i++) {
        work(spins);
        double begin = now_ns();
        agree(way);
        double middle = now_ns();
        double end = now_ns();
        sum += middle - begin;
        clock += end - middle;
    }
    return (sum - clock) / (double)iterations;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

static double time_one(enum way way, double us, long iterations, long spins)
{
    return us ? time_alone(way, iterations, spins) : time_loop(way, iterations, spins);
}

/* In turn, so that a machine that gets slower gets slower for all. */
static void measure(double us, long iterations, double added[3])
{
    long spins = (long)(us * spins_per_us);
    double probe[ROUNDS], broadcast[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double nothing = time_one(NOTHING, us, iterations, spins);
        probe[r] = time_one(PROBE, us, iterations, spins) - nothing;
        broadcast[r] = time_one(BROADCAST, us, iterations / 10, spins) - nothing;
    }
    added[PROBE] = median(probe);
    added[BROADCAST] = median(broadcast);
}

int main(int argc, char **argv)
{
    static const struct {
        double us;
        long iterations;
    } cases[] = {{0, 2000000}, {1, 200000}, {10, 20000}, {1000, 300}};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ceiling_init(&ceiling);
    calibrate();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double added[3];
        measure(cases[i].us, cases[i].iterations, added);
        MPI_Allreduce(MPI_IN_PLACE, &added[PROBE], 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("{\"bench\":\"probe\",\"ranks\":%d,\"iteration_us\":%g,\"probe_ns\":%.2f,\"bcast_ns\":%.1f,"
                   "\"bcast_over_probe\":%.0f}\n",
                   size, cases[i].us, added[PROBE], added[BROADCAST],
                   added[BROADCAST] / (added[PROBE] > 0.5 ? added[PROBE] : 0.5));
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
