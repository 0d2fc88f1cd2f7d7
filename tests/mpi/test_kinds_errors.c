/*
 * Items, partitions, cuts and sparse rows that are described wrongly, on one rank or on all: every rank returns the
 * same error, one line names the entry and the rank, and what is asked rightly afterwards works.
 */
#include <string.h>

#include <epop/unstructured.h>

#include "runtime/describe/describe.h"
#include "tests/mpi/redist_world.h"

#include "tests/mpi/heard.h"

enum { COUNT = 60, BAD_RANK = 1 };

static test_world world;

/* What is wrong, and on BAD_RANK alone or on all. */
enum fault {
    NOTHING,
    OWNER_TOO_HIGH,
    OWNER_NEGATIVE,
    COUNT_NEGATIVE,
    NO_ITEMS,
    LIST_TOO_HIGH,
    LISTS_DIFFER,
    LIST_OF_OTHERS,
    CANNOT_DIVIDE,
    DIVIDES_WRONGLY,
    CUTS_OF_OTHERS,
    NO_WEIGHTS,
    WEIGHTS_ELSEWHERE,
    BAD_STARTS,
    NO_PARTITION,
    NO_CUTS,
    CYCLIC_ROWS,
    BAD_INDEX,
    FAULTS
};

static const struct {
    const char *line;
    bool everywhere;
} faults[FAULTS] = {
    [OWNER_TOO_HIGH] = {"described 'p': rank 1: the owner of item 3 is rank 4, of 4 ranks", false},
    [OWNER_NEGATIVE] = {"described 'p': rank 1: the owner of item 3 is rank -1, of 4 ranks", false},
    [COUNT_NEGATIVE] = {"described 'p': rank 1: the number of items is negative", false},
    [NO_ITEMS] = {"described 'p': rank 1: there are items, but the pointer to them is NULL", false},
    [LIST_TOO_HIGH] = {"described 'parts': rank 1: the list of owners gives index 5 to rank 3, of 3 ranks", false},
    [LISTS_DIFFER] = {"described 'parts': the checksum of the owners is", false},
    [LIST_OF_OTHERS] = {"described 'parts': rank 0: the partition is of 60 indices for 7 ranks, and there are 3", true},
    [CANNOT_DIVIDE] = {"described 'parts': rank 0: it could not be divided among 4 ranks: divide() returned 3", true},
    [DIVIDES_WRONGLY] = {"described 'parts': rank 0: divide() gives index 9 to rank 4, of 4 ranks", true},
    [CUTS_OF_OTHERS] = {"described 'rows': rank 0: its cuts are for 2 ranks, and there are 3", true},
    [NO_WEIGHTS] = {"described 'rows': rank 0: its weights 'nothing' are no array of integers and no sparse rows",
                    true},
    [WEIGHTS_ELSEWHERE] = {"described 'rows': rank 0: its weights 'w' are no array of integers and no sparse rows",
                           true},
    [BAD_STARTS] = {"described 'A': the starts of the rows do not begin with 0, or fall", false},
    [NO_PARTITION] = {"rank 0: described 'u': no entry before it describes its partition", true},
    [NO_CUTS] = {"rank 0: described 'w': its cuts are not described before it", true},
    [CYCLIC_ROWS] = {"rank 0: described 'A': its rows are not dealt out in blocks or by cuts", true},
    [BAD_INDEX] = {"rank 0: described 'A': its row pointers are of MPI_INT", true},
};

struct data {
    enum fault fault; /* on all ranks */
    int64_t *items, count;
    epop_partition_t partition;
    double *u;
    epop_dist_t cuts, other;
    int *w, *starts;
    double *values;
};

static enum fault present; /* of this rank */

static int owner_of(const void *item, int size, const void *context)
{
    int64_t id = *(const int64_t *)item;
    const struct data *m = context;
    if (m && present == OWNER_TOO_HIGH && item == m->items + 3)
        return size;
    return m && present == OWNER_NEGATIVE && item == m->items + 3 ? -1 : (int)(id % size);
}

static int divide(int64_t count, int size, int *owner, const void *context)
{
    const struct data *m = context;
    for (int64_t i = 0; i < count; i++)
        owner[i] = (int)(i % size);
    if (m->fault == DIVIDES_WRONGLY)
        owner[9] = size;
    return m->fault == CANNOT_DIVIDE ? 3 : 0;
}

static void describe(void *data, epop_description_t *d)
{
    struct data *m = data;
    epop_describe_values(d, "fault", &m->fault, sizeof m->fault);
    m->partition.divide = divide;
    m->partition.context = m;
    const epop_row_array_t arrays[] = {{MPI_DOUBLE, &m->values}};
    const char *weights = m->fault == NO_WEIGHTS ? "nothing" : "w";
    epop_describe_items(d, "p", &m->items, &m->count, MPI_INT64_T, owner_of, m, 0);
    epop_describe_partition(d, "parts", &m->partition);
    epop_describe_owned(d, "u", &m->u, MPI_DOUBLE, m->fault == NO_PARTITION ? NULL : &m->partition, 0);
    if (m->fault != NO_CUTS)
        epop_describe_cuts(d, "rows", &m->cuts, weights);
    epop_describe_array(d, "w", &m->w, MPI_INT, m->fault == WEIGHTS_ELSEWHERE ? epop_dist_block(COUNT) : m->cuts, 0);
    epop_dist_t rows = m->fault == CYCLIC_ROWS ? epop_dist_cyclic(COUNT) : m->cuts;
    epop_describe_csr(d, "A", &m->starts, m->fault == BAD_INDEX ? MPI_DOUBLE : MPI_INT, rows, arrays, 1, 0);
}

/* Three old ranks; rows have one element each. */
static void make_data(struct data *m, int rank, int size)
{
    int64_t rows = COUNT / size;
    memset(m, 0, sizeof *m);
    if (rank < 0)
        return;
    m->count = rows;
    m->items = malloc((size_t)rows * sizeof *m->items);
    m->partition = (epop_partition_t){.count = COUNT, .ranks = size, .owner = malloc(COUNT * sizeof(int))};
    m->u = malloc((size_t)rows * sizeof *m->u);
    m->cuts = epop_dist_even_cuts(COUNT, size);
    m->w = malloc((size_t)rows * sizeof *m->w);
    m->starts = malloc(((size_t)rows + 1) * sizeof *m->starts);
    m->values = malloc((size_t)rows * sizeof *m->values);
    REQUIRE(m->items && m->partition.owner && m->u && m->cuts.starts && m->w && m->starts && m->values);
    for (int i = 0; i < COUNT; i++)
        m->partition.owner[i] = i % size;
    for (int i = 0; i <= rows; i++) {
        m->starts[i] = i;
        if (i == rows)
            break;
        m->items[i] = rank * rows + i;
        m->u[i] = rank + i * size;
        m->w[i] = 1;
        m->values[i] = (double)(rank * rows + i);
    }
}

static void spoil(struct data *m)
{
    if (world.window.old_rank < 0)
        return;
    m->fault = faults[present].everywhere ? present : NOTHING;
    if (present == COUNT_NEGATIVE)
        m->count = -1;
    if (present == NO_ITEMS) {
        free(m->items);
        m->items = NULL;
    }
    if (present == LIST_TOO_HIGH)
        m->partition.owner[5] = 3;
    if (present == LISTS_DIFFER)
        m->partition.owner[5] = 0;
    if (present == LIST_OF_OTHERS)
        m->partition.ranks = 7;
    if (present == CUTS_OF_OTHERS) {
        m->cuts.ranks = 2;
        m->cuts.starts[2] = COUNT;
    }
    if (present == BAD_STARTS)
        m->starts[0] = 1;
}

static void check_data(const struct data *m)
{
    int rank = world.window.new_rank, size = world.window.new_size;
    int64_t rows = COUNT / size;
    REQUIRE(m->count == rows && m->cuts.starts[rank] == rank * rows && m->starts[rows] == rows);
    for (int i = 0; i < rows; i++) {
        REQUIRE(m->items[i] % size == rank && m->u[i] == rank + i * size);
        REQUIRE(m->w[i] == 1 && m->starts[i] == i && m->values[i] == (double)(rank * rows + i));
    }
}

static void free_data(struct data *m)
{
    free(m->items);
    free(m->partition.owner);
    free(m->u);
    if (m->cuts.kind == EPOP_DIST_CUTS)
        free(m->cuts.starts);
    free(m->w);
    free(m->starts);
    free(m->values);
}

static void play(enum fault fault)
{
    struct data m;
    bool here = faults[fault].everywhere || world.rank == BAD_RANK;
    present = here ? fault : NOTHING;
    make_data(&m, world.window.old_rank, world.window.old_size);
    spoil(&m);
    listen();
    int result = describe_window(&world.window, describe, &m);
    heard_on(world.rank, faults[fault].line);
    REQUIRE(result == (fault == NOTHING ? EPOP_OK : EPOP_ERR_ARGUMENT));
    if (fault == NOTHING)
        check_data(&m);
    free_data(&m);
}

int main(int argc, char **argv)
{
    const int leaves[WORLD_MAX] = {0};
    MPI_Init(&argc, &argv);
    make_world(&world, MPI_COMM_WORLD, 3, leaves);
    REQUIRE(world.size == 4);
    for (enum fault fault = NOTHING; fault < FAULTS; fault++)
        play(fault);
    play(NOTHING);
    MPI_Finalize();
    if (world.rank == 0)
        printf("test_kinds_errors: ok\n");
    return 0;
}
