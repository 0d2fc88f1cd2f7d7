/*
 * Ranks that sleep and then meet in a barrier, once per iteration: how long they compute and how long they wait is
 * known. It measures that itself, too: "measured SIZE RANK ITERATIONS SECONDS SECONDS-IN-MPI" for each world that it
 * was in.
 *
 * iterations=N       or, if it is not given, until it is stopped
 * sleep=US more=US   every rank sleeps so long, and rank 0 so much more
 * adapt=US           so long in the adapt block, behind a barrier of its own
 */
#include "scenario.h"

struct uneven {
    int64_t iteration, iterations;
    long sleep, more, adapt;
    int64_t made;            /* in the present world */
    double seconds, waiting; /* in these iterations; of that, around calls of MPI */
};

static void tell_measured(struct uneven *u, int rank, int size)
{
    printf("measured %d %d %lld %.9f %.9f\n", size, rank, (long long)u->made, u->seconds, u->waiting);
    fflush(stdout);
    u->made = 0;
    u->seconds = u->waiting = 0;
}

static int init(int *argc, char ***argv, void **data)
{
    arguments_t arguments = {*argc, *argv};
    struct uneven *u = calloc(1, sizeof *u);
    if (!u)
        return EPOP_ERR_MEMORY;
    *data = u;
    u->iterations = argument(arguments, "iterations", 0);
    u->sleep = argument(arguments, "sleep", 0);
    u->more = argument(arguments, "more", 0);
    u->adapt = argument(arguments, "adapt", 0);
    say_init();
    return 0;
}

static int work(void *data)
{
    struct uneven *u = data;
    double begin = now();
    int rank = rank_in(epop_world());
    double ranked = now();
    nap(u->sleep + (rank == 0 ? u->more : 0));
    double napped = now();
    MPI_Barrier(epop_world());
    double end = now();
    u->iteration++;
    u->made++;
    u->seconds += end - begin;
    u->waiting += ranked - begin + end - napped;
    return 0;
}

static int more(void *data)
{
    const struct uneven *u = data;
    return !u->iterations || u->iteration < u->iterations;
}

static int adapt(void *data)
{
    struct uneven *u = data;
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (!error)
        error = epop_redist_replicated(&window, &u->iteration, 1, MPI_INT64_T);
    if (!error && window.old_rank >= 0)
        tell_measured(u, window.old_rank, window.old_size);
    nap(u->adapt);
    if (!error)
        error = MPI_Barrier(window.all);
    return error ? error : epop_adapt_commit();
}

static int report(void *data)
{
    struct uneven *u = data;
    tell_measured(u, rank_in(epop_world()), size_of(epop_world()));
    say_end(0, u->iteration);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}
