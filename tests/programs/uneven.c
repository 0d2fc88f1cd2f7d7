/*
 * Elements that do not cost the same, dealt out by described cuts, by cuts with weights, as items that belong where the
 * cuts or the owners of a partition say, by a partition, or by cuts in an adapt block of its own: a rank sleeps for
 * what its elements cost, and all meet. uneven.so cuts|weights|items|owners|parts|hand ELEMENTS MICROSECONDS ITERATIONS
 * [WANDERS [ASKS]]: a quarter of the elements costs ten times as much as the others, and begins one element further
 * every WANDERS iterations; 0: never. In the iteration ASKS the ranks ask for a balance. Each element has its number,
 * which is looked at.
 */
#include <epop/epop.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAVY 10

typedef struct uneven {
    struct {
        int64_t elements, iterations, step, wanders, nanoseconds, asks;
        char kind; /* its first letter */
    } p;
    epop_dist_t cuts;
    epop_partition_t parts;
    int64_t *number, *weights;
    int64_t items; /* so many numbers */
} uneven_t;

static void here(int *rank, int *size)
{
    MPI_Comm_rank(epop_world(), rank);
    MPI_Comm_size(epop_world(), size);
}

static int64_t cost_of(const uneven_t *u, int64_t index)
{
    int64_t first = u->p.wanders ? u->p.step / u->p.wanders : 0;
    return (index + u->p.elements - first % u->p.elements) % u->p.elements < u->p.elements / 4 ? HEAVY : 1;
}

/* The elements of this rank, of which the first has index *first where they are in blocks. */
static int64_t count_here(const uneven_t *u, int64_t *first)
{
    int rank, size;
    here(&rank, &size);
    *first = 0;
    if (u->p.kind == 'p')
        return epop_partition_local(&u->parts, rank, NULL);
    if (u->p.kind == 'i' || u->p.kind == 'o')
        return u->items;
    *first = u->cuts.starts[rank];
    return epop_dist_local_count(u->cuts, rank, size);
}

/* What they cost, if they are the right ones; -1 if not. */
static int64_t look(const uneven_t *u)
{
    int rank, size;
    int64_t first, count = count_here(u, &first), cost = 0, wrong = 0;
    here(&rank, &size);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = u->number[i];
        wrong += strchr("po", u->p.kind) ? u->parts.owner[index] != rank
                 : u->p.kind == 'i'      ? epop_dist_owner(u->cuts, size, index, NULL) != rank
                                         : index != first + i;
        wrong += u->p.kind == 'w' && u->weights[i] != 1 + index % 2;
        cost += cost_of(u, index);
    }
    if (wrong)
        fprintf(stderr, "uneven: rank %d of %d has %lld wrong elements\n", rank, size, (long long)wrong);
    return wrong ? -1 : cost;
}

static int owner_of(const void *item, int size, const void *context)
{
    const uneven_t *u = context;
    int64_t index = *(const int64_t *)item;
    return u->p.kind == 'o' ? u->parts.owner[index] : epop_dist_owner(u->cuts, size, index, NULL);
}

static void describe(void *data, epop_description_t *d)
{
    uneven_t *u = data;
    epop_describe_values(d, "parameters", &u->p, sizeof u->p);
    if (u->p.kind == 'p' || u->p.kind == 'o')
        epop_describe_partition(d, "parts", &u->parts);
    if (u->p.kind == 'p')
        epop_describe_owned(d, "number", &u->number, MPI_INT64_T, &u->parts, 0);
    if (u->p.kind == 'o')
        epop_describe_items(d, "number", &u->number, &u->items, MPI_INT64_T, owner_of, u, 0);
    if (u->p.kind == 'p' || u->p.kind == 'o')
        return;
    epop_describe_cuts(d, "cuts", &u->cuts, u->p.kind == 'w' ? "weights" : NULL);
    if (u->p.kind == 'i')
        epop_describe_items(d, "number", &u->number, &u->items, MPI_INT64_T, owner_of, u, 0);
    else
        epop_describe_array(d, "number", &u->number, MPI_INT64_T, u->cuts, 0);
    epop_describe_array(d, "weights", &u->weights, MPI_INT64_T, u->cuts, 0);
}

static int init(int *argc, char ***argv, void **data)
{
    int rank, size;
    uneven_t *u = *data = calloc(1, sizeof *u);
    char **words = *argv;
    if (!u || *argc < 5)
        return EPOP_ERR_ARGUMENT;
    here(&rank, &size);
    u->p.kind = words[1][0];
    if (epop_status() != EPOP_NEW)
        return 0;
    u->p.elements = u->parts.count = atoll(words[2]);
    u->p.nanoseconds = 1000 * atoll(words[3]);
    u->p.iterations = atoll(words[4]);
    u->p.wanders = *argc > 5 ? atoll(words[5]) : 0;
    u->p.asks = *argc > 6 ? atoll(words[6]) : -1;
    u->cuts = epop_dist_even_cuts(u->p.elements, size);
    if (epop_partition_divide(&u->parts))
        return EPOP_ERR_MEMORY;
    int64_t first = u->cuts.starts[rank], count = u->items = u->cuts.starts[rank + 1] - first;
    u->number = malloc(((size_t)count + 1) * sizeof *u->number);
    u->weights = malloc(((size_t)count + 1) * sizeof *u->weights);
    for (int64_t i = 0; u->number && u->weights && i < count; i++) {
        u->number[i] = first + i;
        u->weights[i] = 1 + u->number[i] % 2;
    }
    return u->number && u->weights ? 0 : EPOP_ERR_MEMORY;
}

static int step(void *data)
{
    uneven_t *u = data;
    int64_t cost = look(u), sleeps = cost * u->p.nanoseconds;
    if (cost < 0 || (u->p.step == u->p.asks && epop_request_balance()))
        return EPOP_ERR_STATE;
    nanosleep(&(struct timespec){.tv_sec = sleeps / 1000000000, .tv_nsec = sleeps % 1000000000}, NULL);
    u->p.step++;
    MPI_Barrier(epop_world());
    return 0;
}

static int more(void *data)
{
    const uneven_t *u = data;
    return u->p.step < u->p.iterations;
}

/* By hand: a rank that has computed for longer than the mean gets fewer elements in that proportion. */
static int by_hand(uneven_t *u, const epop_window_t *window)
{
    double *loads = malloc(((size_t)window->old_size + 1) * sizeof *loads);
    int64_t count = epop_dist_local_count(u->cuts, window->old_rank, window->old_size);
    epop_dist_t after;
    int result = loads ? epop_balance_loads(loads) : EPOP_ERR_MEMORY;
    if (result == EPOP_OK) {
        int64_t *weights = malloc(((size_t)count + 1) * sizeof *weights);
        for (int64_t i = 0; weights && i < count; i++)
            weights[i] = (int64_t)(1e9 * loads[window->old_rank] / (double)count);
        result = weights ? epop_redist_balance(window, &u->cuts, MPI_INT64_T, weights, 1, &after) : EPOP_ERR_MEMORY;
        free(weights);
    }
    free(loads);
    if (result == EPOP_OK)
        result = epop_redist_between(window, u->cuts, after, MPI_INT64_T, &u->number);
    if (result == EPOP_OK)
        result = epop_redist_between(window, u->cuts, after, MPI_INT64_T, &u->weights);
    if (result == EPOP_OK) {
        epop_dist_free(&u->cuts);
        u->cuts = after;
    }
    return result;
}

static int adapt(void *data)
{
    uneven_t *u = data;
    epop_window_t window;
    double none;
    int outside = epop_balance_loads(&none), result;
    if (u->p.kind != 'h')
        return epop_adapt_described(data);
    result = epop_adapt_begin(&window);
    int still = window.status == EPOP_STAYING && !window.joining && !window.leaving &&
                window.old_rank == window.new_rank && window.old_size == window.new_size;
    if (result == EPOP_OK && (!still || outside != EPOP_ERR_STATE))
        return EPOP_ERR_STATE;
    if (result == EPOP_OK)
        result = by_hand(u, &window);
    return result == EPOP_OK ? epop_adapt_commit() : result;
}

static int report(void *data)
{
    const uneven_t *u = data;
    int rank, size;
    int64_t mine = look(u), most, sum;
    here(&rank, &size);
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, epop_world());
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, epop_world());
    if (rank == 0)
        printf("uneven: right on %d ranks, imbalance %.3f\n", size, (double)most * size / (double)sum);
    return mine < 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("uneven");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "steps", step, adapt, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, free);
    return program;
}
