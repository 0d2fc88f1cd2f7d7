/*
 * Elements of which a quarter costs ten times as much as the others, and wanders; dealt out by described cuts.
 *     wandering uneven|even ELEMENTS NANOSECONDS BYTES WANDERS FIRST SECONDS
 * A rank sleeps for what its elements cost, so that ranks need no core of their own; the cheap ones cost NANOSECONDS,
 * and with `even` all cost as much as they do in the mean: what the best cuts could reach. Each has BYTES. The quarter
 * goes on by WANDERS elements in a second, for SECONDS behind the FIRST. Then rank 0 prints how many iterations there
 * were in these, how long they took, and what the busiest rank's elements have cost over the mean: what is lost with
 * nothing else on the machine; also with the first seconds.
 */
#include <epop/epop.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAVY 10

/* So far. */
struct sums {
    int64_t iterations;
    double seconds;    /* since the first iteration, by rank 0's clock */
    double most, mean; /* what the busiest rank's elements cost, and a rank's in the mean */
};

typedef struct wandering {
    struct {
        int64_t elements, bytes;
        double unit, wanders, first, seconds; /* unit: seconds */
        bool even;
        struct sums all, early; /* early: when the first seconds were over */
    } p;
    epop_dist_t cuts;
    char *content;
    double began; /* on rank 0 */
} wandering_t;

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

/* Of all elements before that one, if the quarter begins with element `first`; its end may be at the beginning of all.
 */
static double cost_before(const wandering_t *w, int64_t index, int64_t first)
{
    int64_t quarter = w->p.elements / 4, over = first + quarter - w->p.elements;
    over = over > 0 ? over : 0;
    if (w->p.even)
        return (double)index * (1 + (HEAVY - 1) * (double)quarter / (double)w->p.elements);
    int64_t dear = at_most(index, over) + (index > first ? at_most(index - first, quarter - over) : 0);
    return (double)(index + (HEAVY - 1) * dear);
}

static void pause_for(double time)
{
    struct timespec left = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

static MPI_Datatype element_type;

static void describe(void *data, epop_description_t *d)
{
    wandering_t *w = data;
    epop_describe_values(d, "parameters", &w->p, sizeof w->p);
    epop_describe_cuts(d, "cuts", &w->cuts, NULL);
    epop_describe_array(d, "content", &w->content, element_type, w->cuts, 0);
}

static int start(int *argc, char ***argv, void **data)
{
    int rank, size;
    wandering_t *w = *data = calloc(1, sizeof *w);
    char **words = *argv;
    if (!w || *argc < 8)
        return EPOP_ERR_ARGUMENT;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    w->p.even = !strcmp(words[1], "even");
    w->p.elements = atoll(words[2]);
    w->p.unit = atof(words[3]) * 1e-9;
    w->p.bytes = atoll(words[4]);
    w->p.wanders = atof(words[5]);
    w->p.first = atof(words[6]);
    w->p.seconds = atof(words[7]);
    MPI_Type_contiguous((int)w->p.bytes, MPI_BYTE, &element_type);
    MPI_Type_commit(&element_type);
    if (epop_status() != EPOP_NEW)
        return 0;
    w->cuts = epop_dist_even_cuts(w->p.elements, size);
    int64_t count = w->cuts.starts[rank + 1] - w->cuts.starts[rank];
    w->content = calloc((size_t)(count * w->p.bytes) + 1, 1);
    return w->content ? 0 : EPOP_ERR_MEMORY;
}

static double cost_of(const wandering_t *w, int rank, int64_t first)
{
    return cost_before(w, w->cuts.starts[rank + 1], first) - cost_before(w, w->cuts.starts[rank], first);
}

static void add_costs(wandering_t *w, int64_t first)
{
    int size;
    double most = 0;
    MPI_Comm_size(epop_world(), &size);
    for (int rank = 0; rank < size; rank++) {
        double cost = cost_of(w, rank, first);
        most = cost > most ? cost : most;
    }
    w->p.all.most += most;
    w->p.all.mean += cost_before(w, w->p.elements, first) / size;
}

/* The time goes on by rank 0's clock, which also waits for all. */
static int iterate(void *data)
{
    wandering_t *w = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0 && w->began <= 0)
        w->began = seconds();
    int64_t first = (int64_t)(w->p.all.seconds * w->p.wanders) % w->p.elements;
    pause_for(cost_of(w, rank, first) * w->p.unit);
    add_costs(w, first);
    w->p.all.iterations++;
    MPI_Barrier(epop_world());
    if (rank == 0)
        w->p.all.seconds = seconds() - w->began;
    MPI_Bcast(&w->p.all.seconds, 1, MPI_DOUBLE, 0, epop_world());
    if (w->p.all.seconds < w->p.first)
        w->p.early = w->p.all;
    return 0;
}

static int on(void *data)
{
    const wandering_t *w = data;
    return w->p.all.seconds < w->p.first + w->p.seconds;
}

static int report(void *data)
{
    const wandering_t *w = data;
    const struct sums *all = &w->p.all, *early = &w->p.early;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("{\"iterations\": %lld, \"seconds\": %.6f, \"imbalance\": %.6f, \"with_first\": %.6f}\n",
               (long long)(all->iterations - early->iterations), all->seconds - early->seconds,
               (all->most - early->most) / (all->mean - early->mean), all->most / all->mean);
    return 0;
}

static void leave(void *data)
{
    MPI_Type_free(&element_type);
    free(data);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wandering");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "iterate", iterate, epop_adapt_described, on);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, leave);
    return program;
}
