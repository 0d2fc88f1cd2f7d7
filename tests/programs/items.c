/*
 * Each rank has some items, which go to another rank in every iteration.
 *     items FILE [NAP [HOLD]]
 * The last rank sleeps NAP microseconds before, and stays away as long as the file HOLD is there. Ends when FILE is
 * there.
 */
#include <epop/epop.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 100 };

struct box {
    int64_t step, count, *items;
    const char *until, *hold;
    int nap;
};

static int owner(const void *item, int size, const void *context)
{
    (void)context;
    return (int)(*(const int64_t *)item % size);
}

static void describe(void *data, epop_description_t *d)
{
    struct box *box = data;
    epop_describe_values(d, "step", &box->step, sizeof box->step);
    epop_describe_items(d, "items", &box->items, &box->count, MPI_INT64_T, owner, NULL, 0);
}

static int init(int *argc, char ***argv, void **data)
{
    struct box *box = *data = calloc(1, sizeof *box);
    if (!box || *argc < 2)
        return EPOP_ERR_ARGUMENT;
    box->until = (*argv)[1];
    box->nap = *argc > 2 ? atoi((*argv)[2]) : 0;
    box->hold = *argc > 3 ? (*argv)[3] : "";
    if (epop_status() != EPOP_NEW)
        return 0;
    box->items = malloc(ITEMS * sizeof *box->items);
    for (box->count = 0; box->items && box->count < ITEMS; box->count++)
        box->items[box->count] = box->count;
    return box->items ? 0 : EPOP_ERR_MEMORY;
}

static int exec(void *data)
{
    struct box *box = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    while (rank == size - 1 && !access(box->hold, F_OK))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (rank == size - 1)
        nanosleep(&(struct timespec){.tv_nsec = box->nap * 1000L}, NULL);
    for (int64_t i = 0; i < box->count; i++)
        box->items[i]++;
    box->step++;
    return epop_items_exchange(&box->items, &box->count, MPI_INT64_T, owner, NULL);
}

static int more(void *data)
{
    const struct box *box = data;
    int on = access(box->until, F_OK) != 0;
    MPI_Bcast(&on, 1, MPI_INT, 0, epop_world());
    return on;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("items");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "exchange", exec, epop_adapt_described, more);
    epop_describe(program, describe);
    epop_release(program, free);
    return program;
}
