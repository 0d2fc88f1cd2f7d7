/*
 * A loop of short iterations, as an EPOP program and (with -DPLAIN) as an MPI main() written by hand, to compare.
 *     loop ITERATIONS STEPS [bytes] [calls]
 * STEPS: how much every iteration computes. bytes: of a distributed array that an adaptation moves. calls: of MPI in
 * every iteration. Prints the seconds that the loop took on rank 0, and those of its fastest 100 iterations in a row in
 * the second half.
 */
#include <epop/epop.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct loop {
    int64_t iteration, iterations, steps, bytes, calls;
    double begin, block, fastest; /* when the present 100 iterations began; seconds of the fastest so far */
    char *local;                  /* this rank's part of the array */
    volatile double sink;
} loop_t;

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void work(loop_t *loop, int64_t steps)
{
    double x = loop->sink;
    for (int64_t i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    loop->sink = x;
}

static int init(int *argc, char ***argv, void **data)
{
    loop_t *loop = calloc(1, sizeof *loop);
    if (!loop || *argc < 3)
        return EPOP_ERR_ARGUMENT;
    loop->iterations = atoll((*argv)[1]);
    loop->steps = atoll((*argv)[2]);
    loop->bytes = *argc > 3 ? atoll((*argv)[3]) : 0;
    loop->calls = *argc > 4 ? atoll((*argv)[4]) : 0;
    if (epop_status() != EPOP_JOINING) {
        int rank, size;
        MPI_Comm_rank(epop_world(), &rank);
        MPI_Comm_size(epop_world(), &size);
        loop->local = calloc((size_t)epop_dist_local_count(epop_dist_block(loop->bytes), rank, size) + 1, 1);
        MPI_Barrier(epop_world());
    }
    loop->begin = loop->block = seconds();
    loop->fastest = INFINITY;
    *data = loop;
    return 0;
}

static void end_block(loop_t *loop)
{
    double now = seconds();
    if (2 * loop->iteration > loop->iterations)
        loop->fastest = fmin(loop->fastest, now - loop->block);
    loop->block = now;
}

static int exec(void *data)
{
    loop_t *loop = data;
    work(loop, loop->steps);
    for (int64_t i = 0; i < loop->calls; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, epop_world(), &flag, MPI_STATUS_IGNORE);
    }
    if (++loop->iteration % 100 == 0)
        end_block(loop);
    return 0;
}

static int more(void *data)
{
    const loop_t *loop = data;
    return loop->iteration < loop->iterations;
}

static int report(void *data)
{
    loop_t *loop = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("{\"iterations\":%lld,\"seconds\":%.9f,\"fastest_100\":%.9f}\n", (long long)loop->iteration,
               seconds() - loop->begin, isfinite(loop->fastest) ? loop->fastest : -1);
    free(loop->local);
    free(loop);
    return 0;
}

#ifdef PLAIN

int main(int argc, char **argv)
{
    void *data = NULL;
    MPI_Init(&argc, &argv);
    int error = init(&argc, &argv, &data);
    if (!error) {
        do {
            error = exec(data);
        } while (!error && more(data));
    }
    error = error ? error : report(data);
    MPI_Finalize();
    return error;
}

#else

static int adapt(void *data)
{
    loop_t *loop = data;
    void *local = loop->local;
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (!error)
        error = epop_redist_replicated(&window, &loop->iteration, 1, MPI_INT64_T);
    if (!error)
        error = epop_redist_replicated(&window, &loop->steps, 1, MPI_INT64_T);
    if (!error && loop->bytes)
        error = epop_redist(&window, epop_dist_block(loop->bytes), MPI_CHAR, &local);
    loop->local = local;
    if (error)
        return error;
    error = epop_adapt_commit();
    if (window.status == EPOP_LEAVING) {
        free(loop->local);
        free(loop);
    }
    return error;
}

EPOP_EXPORT epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("loop");
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "loop", exec, adapt, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}

#endif
