/*
 * What the benchmarks of redistribution share: windows made by hand from the ranks of MPI_COMM_WORLD, without the
 * elastic runtime, and times that all ranks have waited for.
 */
#ifndef BENCH_WINDOWS_H
#define BENCH_WINDOWS_H

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <epop/redist.h>

enum { RANKS_MAX = 64, REPETITIONS_MAX = 1000 };

static int rank, size;

static inline void fail(const char *what)
{
    fprintf(stderr, "bench/%s: %s\n", program_invocation_short_name, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void *allocate(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    if (!memory)
        fail("out of memory");
    return memory;
}

/* A window from old_size ranks to new_size ranks, one of the two being all. */
static inline epop_window_t make_window(int old_size, int new_size, int new_ranks[RANKS_MAX])
{
    epop_window_t window = {.old_size = old_size, .new_size = new_size, .all = MPI_COMM_WORLD};
    for (int r = 0; r < size; r++)
        new_ranks[r] = r < new_size ? r : -1;
    window.new_ranks = new_ranks;
    window.old_rank = rank < old_size ? rank : -1;
    window.new_rank = new_ranks[rank];
    window.staying = old_size < new_size ? old_size : new_size;
    window.leaving = old_size - window.staying;
    window.joining = new_size - window.staying;
    window.status = window.old_rank < 0 ? EPOP_JOINING : window.new_rank < 0 ? EPOP_LEAVING : EPOP_STAYING;
    return window;
}

/* Blocks come from memory that was in use before, also the large ones, which malloc() else takes from the kernel now
 * and then, on one of the sides that are compared and not on the other. */
static inline void reuse_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

/* A barrier around what is measured, whose waiting ranks yield: with more ranks than cores, one that spins in
 * MPI_Barrier would hold up one that measures. */
static inline void gather(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        sched_yield();
}

static inline double slowest(double seconds)
{
    double result;
    gather();
    MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* They are sorted then. */
static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
