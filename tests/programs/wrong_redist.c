/*
 * Its adapt block does one thing wrong with the data, on old rank 1, by the first argument. It asks for 3 ranks in
 * iteration 3 and for 2 in iteration 6. With any other word it is right.
 *
 *     short     its block is smaller than the distribution says
 *     count     it gives another count                        order    it redistributes in another order
 *     missing   it leaves one redistribution out              replica  what all should have a copy of, it has otherwise
 *
 * With a second argument the adapt block opens and closes its window by the elastic MPI calls.
 */
#include <epop/mpi_adapt.h>

#include "scenario.h"

enum { COUNT = 600 };

static const char *way = "right";
static int iterations, by_mpi;
static int64_t same = 7;
static void *numbers, *values, *lengths;

static bool wrong(const epop_window_t *w, const char *name)
{
    return !strcmp(way, name) && w->old_rank == 1;
}

static int init(int *argc, char ***argv, void **data)
{
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    epop_dist_t dist = epop_dist_block(COUNT);
    (void)data;
    int status;
    way = *argc > 1 ? (*argv)[1] : way;
    by_mpi = *argc > 2;
    if (by_mpi && MPI_Init_adapt(argc, argv, &status))
        return EPOP_ERR_STATE;
    if (epop_status() == EPOP_JOINING)
        return 0;
    int64_t count = epop_dist_local_count(dist, rank, size);
    numbers = malloc((size_t)count * sizeof(int));
    lengths = malloc((size_t)count * sizeof(int));
    values = malloc((size_t)count * 2 * sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        ((int *)numbers)[i] = (int)epop_dist_global(dist, rank, size, i);
        ((double *)values)[2 * i] = ((double *)values)[2 * i + 1] = (double)i;
        ((int *)lengths)[i] = 2;
    }
    return numbers && lengths && values ? 0 : EPOP_ERR_MEMORY;
}

static int work(void *data)
{
    (void)data;
    nap(2000);
    if (rank_in(epop_world()) == 0 && (iterations == 3 || iterations == 6))
        epop_request_resize(iterations == 3 ? 3 : 2);
    iterations++;
    return MPI_Barrier(epop_world());
}

static int move_numbers(const epop_window_t *w)
{
    return epop_redist(w, epop_dist_block(wrong(w, "count") ? COUNT + 1 : COUNT), MPI_INT, &numbers);
}

static int move_rows(const epop_window_t *w)
{
    const epop_row_array_t arrays[] = {{MPI_DOUBLE, &values}};
    return epop_redist_rows(w, epop_dist_block(COUNT), epop_dist_block(COUNT), MPI_INT, &lengths, arrays, 1);
}

static int begin(epop_window_t *w)
{
    MPI_Comm between, after;
    int staying, leaving, joining;
    if (!by_mpi)
        return epop_adapt_begin(w);
    if (epop_mpi_window(w) != EPOP_ERR_STATE || w->all != MPI_COMM_NULL)
        return EPOP_ERR_STATE;
    int error = MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    return error ? error : epop_mpi_window(w);
}

static int adapt(void *data)
{
    epop_window_t w;
    (void)data;
    int error = begin(&w);
    if (error)
        return error;
    if (wrong(&w, "short"))
        numbers = realloc(numbers, 100);
    if (wrong(&w, "replica"))
        same++;
    if (wrong(&w, "order") && (error = move_rows(&w)))
        return error;
    if ((error = move_numbers(&w)))
        return error;
    if (!wrong(&w, "missing") && (error = move_rows(&w)))
        return error;
    if ((error = epop_redist_replicated(&w, &same, 1, MPI_INT64_T)))
        return error;
    if ((error = epop_redist_replicated(&w, &iterations, 1, MPI_INT)))
        return error;
    return by_mpi ? MPI_Comm_adapt_commit() : epop_adapt_commit();
}

static int more(void *data)
{
    (void)data;
    return iterations < 60;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_redist");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    return program;
}
