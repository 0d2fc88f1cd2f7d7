/*
 * What it costs to find the loops of a program (dissertation of I. Comprés, section 13.2 and 13.3): a call by the
 * number of sites in the loop, while the loop is new and when it is known, and what it takes to compare loops; then
 * calls of MPI by their bytes, in a loop of 32 sites: not measured, measured, and measured and followed.
 *
 *     mpiexec -n 2 build/bench/loops [sites|calls [ROUNDS]]
 *
 * Prints a JSON line for each; sites and calls are the two parts alone. Of each the fastest round, as what disturbs one
 * only ever makes it slower.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/ticks.h"
#include "runtime/job/follow.h"
#include "runtime/job/state.h"
#include "runtime/job/stopwatch.h"
#include "runtime/loops/loops.h"

enum { CALLS = 100000, SITES = 32, MOST = 1 << 20 };

static int rank, rounds = 100;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- The detector alone ---- */

static void turn(struct loops *loops, int nodes)
{
    static int64_t now;
    for (int n = 0; n < nodes; n++, now++)
        loops_follow(loops, (struct loops_site){.call = 0x400000 + 37 * (uintptr_t)n, .what = n % 7}, now, now / 2);
}

static double time_turns(struct loops *loops, int nodes, int turns)
{
    double begin = now_ns();
    for (int t = 0; t < turns; t++)
        turn(loops, nodes);
    return (now_ns() - begin) / nodes / turns;
}

static double time_compare(const struct loops *loops)
{
    static const struct loops_known known[LOOPS_NODES];
    static struct loops_likeness likeness[LOOPS_LAPS];
    double begin = now_ns();
    loops_compare(loops, known, likeness);
    return now_ns() - begin;
}

static void by_nodes(int nodes)
{
    double detect = INFINITY, verify = INFINITY, compare = INFINITY;
    for (int r = 0; r < rounds; r++) {
        struct loops *loops = loops_new();
        if (!loops)
            exit(EXIT_FAILURE);
        volatile char *page = (volatile char *)loops;
        for (size_t i = 0; i < sizeof *loops; i += 1024)
            page[i] = 0; /* its memory is there: else zeros would be timed */
        loops->at = loops->before = LOOPS_NONE;
        detect = fmin(detect, time_turns(loops, nodes, 1));
        turn(loops, nodes);
        verify = fmin(verify, time_turns(loops, nodes, CALLS / nodes));
        compare = fmin(compare, time_compare(loops));
        free(loops);
    }
    if (rank == 0)
        printf("{\"bench\":\"loops\",\"nodes\":%d,\"detect_ns\":%.1f,\"verify_ns\":%.1f,\"compare_ns\":%.1f}\n", nodes,
               detect, verify, compare);
}

/* ---- Calls of MPI ---- */

static char buffer[MOST];

#define FOUR(call)    call call call call
#define SIXTEEN(call) FOUR(FOUR(call))
#define ALL(call)     SIXTEEN(call) SIXTEEN(call) /* SITES */

static void self(int bytes)
{
    (void)bytes;
    ALL(MPI_Barrier(MPI_COMM_SELF);)
}

static void broadcast(int bytes)
{
    ALL(MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);)
}

static void message(int bytes)
{
    if (rank == 0) {
        ALL(MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);)
    } else if (rank == 1) {
        ALL(MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);)
    }
}

static double time_calls(void (*calls)(int), int bytes, int turns)
{
    calls(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_ns();
    for (int t = 0; t < turns; t++)
        calls(bytes);
    return (now_ns() - begin) / turns / SITES;
}

static void set(bool measured, bool followed)
{
    stopwatch_watch(measured);
    meter_switch(&job.meter, measured, 1e-9);
    epop__meter_begin(&job.meter, 0, 2);
    if (followed)
        follow_start(FOLLOW_BETWEEN_WINDOWS);
    else
        stopwatch_follow(NULL);
}

static void compare(const char *name, void (*calls)(int), int bytes)
{
    double off = INFINITY, on = INFINITY, followed = INFINITY;
    int turns = 2 + 1000 / (1 + bytes / 256);
    for (int r = 0; r < rounds; r++) {
        set(false, false);
        off = fmin(off, time_calls(calls, bytes, turns));
        set(true, false);
        on = fmin(on, time_calls(calls, bytes, turns));
        set(true, true);
        followed = fmin(followed, time_calls(calls, bytes, turns));
    }
    set(false, false);
    if (rank == 0)
        printf("{\"bench\":\"loops\",\"call\":\"%s\",\"bytes\":%d,\"off_ns\":%.1f,\"on_ns\":%.1f,\"followed_ns\":%.1f,"
               "\"follow_added_ns\":%.1f,\"ratio\":%.4f}\n",
               name, bytes, off, on, followed, followed - on, followed / off);
}

static void all_sites(void)
{
    for (int nodes = 8; nodes <= LOOPS_NODES; nodes *= 2)
        by_nodes(nodes);
}

static void all_calls(void)
{
    compare("MPI_Barrier", self, 0);
    for (int bytes = 16; bytes <= MOST; bytes *= 16) {
        compare("MPI_Send", message, bytes);
        compare("MPI_Bcast", broadcast, bytes);
    }
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ticks_start();
    job.meter.mpi_ticks = stopwatch_ticks;
    if (strcmp(part, "calls") != 0)
        all_sites();
    if (strcmp(part, "sites") != 0)
        all_calls();
    MPI_Finalize();
    return 0;
}
