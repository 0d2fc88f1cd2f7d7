/*
 * What measuring on demand costs an iteration with one call of MPI: with the code for it and switched off, and on,
 * beside a loop that has none, in turn.
 *
 *     mpiexec -n 2 build/bench/measure
 *
 * Prints a JSON line per length of the iterations: nanoseconds of each, what is added, and the ratios. Of each the
 * fastest round, as what disturbs one only ever makes it slower.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "runtime/base/ticks.h"
#include "runtime/job/stopwatch.h"
#include "runtime/member/meter.h"

enum { ROUNDS = 201 };

static struct meter meter;
static volatile double sink;
static int rank;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void work(long steps)
{
    double x = sink;
    while (steps-- > 0)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static void call(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void without(long iterations, long steps)
{
    while (iterations-- > 0) {
        work(steps);
        call();
    }
}

static void with(long iterations, long steps)
{
    while (iterations-- > 0) {
        work(steps);
        call();
        if (meter_is_on(&meter))
            epop__meter_iteration(&meter, 1, 2);
    }
}

static double time_loop(void (*loop)(long, long), long iterations, long steps)
{
    double begin = now_ns();
    loop(iterations, steps);
    return (now_ns() - begin) / (double)iterations;
}

static void set(bool on)
{
    stopwatch_watch(on);
    meter_switch(&meter, on, 1e-9);
}

static void compare(double us, double steps_per_us)
{
    double none = INFINITY, off = INFINITY, on = INFINITY;
    long steps = (long)(us * steps_per_us), iterations = (long)(1000 / (us + 0.1));
    int64_t before = stopwatch_ticks();
    for (int r = 0; r < ROUNDS; r++) {
        none = fmin(none, time_loop(without, iterations, steps));
        off = fmin(off, time_loop(with, iterations, steps));
        set(true);
        on = fmin(on, time_loop(with, iterations, steps));
        set(false);
    }
    double seen = (double)(stopwatch_ticks() - before) * ticks_seconds() / (double)(ROUNDS * iterations);
    if (rank == 0)
        printf(
            "{\"bench\":\"measure\",\"iteration_us\":%g,\"none_ns\":%.1f,\"off_ns\":%.1f,\"on_ns\":%.1f,"
            "\"off_added_ns\":%.1f,\"on_added_ns\":%.1f,\"mpi_seen_ns\":%.1f,\"off_ratio\":%.4f,\"on_ratio\":%.4f}\n",
            us, none, off, on, off - none, on - none, seen * 1e9, off / none, on / none);
}

static double find_steps_per_us(void)
{
    double best = INFINITY, begin;
    for (int r = 0; r < 20; r++) {
        begin = now_ns();
        work(1000000);
        best = fmin(best, now_ns() - begin);
    }
    return 1e6 / best * 1e3;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ticks_start();
    meter.mpi_ticks = stopwatch_ticks;
    double steps_per_us = find_steps_per_us();
    MPI_Barrier(MPI_COMM_WORLD);
    compare(0, steps_per_us);
    compare(1, steps_per_us);
    compare(10, steps_per_us);
    compare(100, steps_per_us);
    MPI_Finalize();
    return 0;
}
