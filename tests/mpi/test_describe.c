/*
 * Property test of the kinds of described data: for random shapes, element types and world changes every element
 * arrives once, exactly; and what is saved by some ranks is loaded by any other number of them. test_describe [SEED
 * [ROUNDS]] replays a run.
 */
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "tests/mpi/redist_types.h"
#include "tests/mpi/rounds.h"

/* ---- A program's data -------------------------------------------------------------------- */

enum { KINDS = 5, SLABS = 16, MORE = 5000 };
enum { A, M, R, S, B }; /* array, matrix, replicated, scratch, blocks */

static struct data {
    struct shape {
        int64_t count, copies, more;
        epop_dist_t dist;
        epop_dist2d_t grid;
        epop_blocks_t blocks;
        int types[KINDS];
    } shape;
    void *local[KINDS];
    char more[MORE]; /* of which shape.more are described: few values, or many */
} data;

static test_type types[TEST_TYPES];

static const test_type *type_of(int kind)
{
    return &types[data.shape.types[kind]];
}

static void describe(void *context, epop_description_t *d)
{
    struct data *the = context;
    struct shape *s = &the->shape;
    epop_describe_values(d, "shape", s, sizeof *s);
    epop_describe_values(d, "more", the->more, (size_t)s->more);
    epop_describe_array(d, "array", &the->local[A], type_of(A)->type, s->dist, 0);
    epop_describe_matrix(d, "matrix", &the->local[M], type_of(M)->type, &s->grid, EPOP_CONSTANT);
    epop_describe_replicated(d, "replicated", &the->local[R], type_of(R)->type, s->copies, 0);
    epop_describe_array(d, "scratch", &the->local[S], type_of(S)->type, s->dist, EPOP_SCRATCH);
    epop_describe_blocks(d, "blocks", &the->local[B], type_of(B)->type, &s->blocks, 0);
}

static epop_dist_t random_dist(int64_t count)
{
    int64_t kind = pick(3);
    return kind == 0   ? epop_dist_block(count)
           : kind == 1 ? epop_dist_cyclic(count)
                       : epop_dist_block_cyclic(count, 1 + pick(9));
}

/* Also such that lie in the order of files, and such that no dimension of is cut. */
static epop_blocks_t random_blocks(void)
{
    epop_blocks_t blocks = {.dims = 1 + (int)pick(4)};
    for (int i = 0; i < blocks.dims; i++) {
        blocks.count[i] = pick(20) ? 1 + pick(9) : 0;
        blocks.ghosts[i] = (int)pick(2);
        blocks.periodic[i] = (int)pick(2);
        blocks.grid[i] = i > 0 && pick(3) == 0;
    }
    return blocks;
}

static void random_shape(struct shape *s)
{
    memset(s, 0, sizeof *s);
    s->count = pick(2) ? pick(8) : pick(2000);
    s->copies = pick(100);
    s->more = 1 + (pick(2) ? pick(MORE) : 0);
    s->dist = random_dist(s->count);
    s->grid =
        (epop_dist2d_t){.rows = random_dist(pick(40)), .cols = random_dist(pick(40)), .column_major = (int)pick(2)};
    s->blocks = random_blocks();
    for (int i = 0; i < KINDS; i++)
        s->types[i] = (int)pick(TEST_TYPES - 1); /* not the one whose elements reach into each other */
}

/* ---- What belongs where ---------------------------------------------------------------------- */

static epop_dist2d_t grid_of(int size)
{
    epop_dist2d_t grid = data.shape.grid;
    epop_grid_near_square(size, &grid.grid_rows, &grid.grid_cols);
    return grid;
}

static int64_t count_of(int kind, int rank, int size)
{
    int64_t rows, cols;
    epop_dist2d_t grid = grid_of(size);
    epop_dist2d_local(&grid, rank, &rows, &cols);
    return rank < 0    ? 0
           : kind == R ? data.shape.copies
           : kind == M ? rows * cols
           : kind == B ? epop_blocks_elements(&data.shape.blocks, rank, size)
                       : epop_dist_local_count(data.shape.dist, rank, size);
}

/* The row-major number, boundary included, of an element of the local array; a ghost has that of whose copy it is. */
static int64_t id_in_blocks(int rank, int size, int64_t at)
{
    const epop_blocks_t *b = &data.shape.blocks;
    int64_t first[EPOP_BLOCKS_DIMS], count[EPOP_BLOCKS_DIMS], id = 0, stride = 1;
    REQUIRE(epop_blocks_local(b, rank, size, first, count) == EPOP_OK);
    for (int i = b->dims - 1; i >= 0; i--) {
        int64_t width = count[i] + 2 * b->ghosts[i], edge = b->periodic[i] ? 0 : b->ghosts[i];
        int64_t cell = first[i] - b->ghosts[i] + at % width + edge;
        at /= width;
        id += (b->periodic[i] ? (cell + b->count[i]) % b->count[i] : cell) * stride;
        stride *= b->count[i] + 2 * edge;
    }
    return id;
}

static int64_t id_of(int kind, int rank, int size, int64_t at)
{
    int64_t rows, cols;
    epop_dist2d_t g = grid_of(size);
    if (kind == R)
        return at;
    if (kind == B)
        return id_in_blocks(rank, size, at);
    if (kind != M)
        return epop_dist_global(data.shape.dist, rank, size, at);
    epop_dist2d_local(&g, rank, &rows, &cols);
    int64_t i = g.column_major ? at % rows : at / cols, j = g.column_major ? at / rows : at % cols;
    return epop_dist_global(g.rows, rank / g.grid_cols, g.grid_rows, i) * g.cols.count +
           epop_dist_global(g.cols, rank % g.grid_cols, g.grid_cols, j);
}

static void make(int rank, int size)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t count = count_of(kind, rank, size);
        data.local[kind] = count ? new_block(type_of(kind), count) : NULL;
        for (int64_t i = 0; i < count; i++)
            put(type_of(kind), data.local[kind], i, id_of(kind, rank, size, i));
    }
}

static void check(int rank, int size)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t count = count_of(kind, rank, size);
        REQUIRE((data.local[kind] != NULL) == (count > 0));
        for (int64_t i = 0; kind != S && i < count; i++)
            REQUIRE(holds(type_of(kind), data.local[kind], i, id_of(kind, rank, size, i)));
        for (int64_t i = 0; kind == S && i < count * type_of(S)->extent; i++)
            REQUIRE(((char *)data.local[S])[i] == 0);
    }
}

static void drop(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        free(data.local[kind]);
        data.local[kind] = NULL;
    }
}

/* ---- Checksums --------------------------------------------------------------------------------- */

struct sums {
    int64_t counts[SLABS];
    uint64_t sums[SLABS];
    int entries;
};

static void list(epop_description_t *d)
{
    struct error error;
    REQUIRE(!describe_run(d, DESCRIBE_LIST, describe, &data, NULL, 0, &error));
}

static void sum_up(MPI_Comm comm, int rank, int size, struct sums *sums)
{
    epop_description_t d;
    memset(sums, 0, sizeof *sums);
    if (rank >= 0) {
        list(&d);
        for (int i = 0; i < d.count; i++)
            if (!(d.entries[i].flags & EPOP_SCRATCH))
                d.entries[i].kind->sum(&d.entries[i], rank, size, &sums->counts[i], &sums->sums[i]);
        describe_free(&d);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums->counts, SLABS, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, sums->sums, SLABS, MPI_UINT64_T, MPI_SUM, comm);
}

/* ---- Values -------------------------------------------------------------------------------------- */

static char value_at(int64_t i)
{
    return (char)(i % 127 + 1);
}

static void make_values(bool here)
{
    for (int64_t i = 0; i < MORE; i++)
        data.more[i] = here ? value_at(i) : 0;
}

static void check_values(void)
{
    for (int64_t i = 0; i < data.shape.more; i++)
        REQUIRE(data.more[i] == value_at(i));
}

/* ---- A window ------------------------------------------------------------------------------------ */

static void round_window(MPI_Comm comm)
{
    test_world world;
    struct sums before, after;
    int size, leaves[WORLD_MAX] = {0};
    MPI_Comm_size(comm, &size);
    int old_size = 1 + (int)pick(size);
    for (int r = 0; r < old_size; r++)
        leaves[r] = r > 0 && pick(2);
    make_world(&world, comm, old_size, leaves);
    const epop_window_t *w = &world.window;
    random_shape(&data.shape);
    struct shape shape = data.shape;
    if (w->old_rank < 0)
        memset(&data.shape, 0, sizeof data.shape);
    else
        make(w->old_rank, w->old_size);
    make_values(w->old_rank >= 0);
    sum_up(comm, w->old_rank, w->old_size, &before);
    REQUIRE(describe_window(w, describe, &data) == EPOP_OK);
    REQUIRE(memcmp(&data.shape, &shape, sizeof shape) == 0);
    check_values();
    sum_up(comm, w->new_rank, w->new_size, &after);
    REQUIRE(memcmp(&before, &after, sizeof before) == 0);
    check(w->new_rank, w->new_size);
    drop();
}

/* ---- A checkpoint, in the memory of every rank ---------------------------------------------------- */

static struct file {
    struct slab slabs[SLABS];
    char *bytes[SLABS];
    int count;
} file;

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    return extent;
}

static int64_t elements_of(const struct slab *slab)
{
    int64_t elements = 1;
    for (int i = 0; i < slab->dims; i++)
        elements *= slab->extent[i];
    return elements;
}

/* Each rank's part; they are in the order of the ranks, without gaps. */
static void store(MPI_Comm comm, const struct slab *slab)
{
    int64_t extent = extent_of(slab->type), elements = elements_of(slab), counted = slab->count, before = 0;
    int rank, at = file.count++;
    char *all = calloc(1, (size_t)(elements * extent + 1));
    MPI_Comm_rank(comm, &rank);
    MPI_Exscan(&counted, &before, 1, MPI_INT64_T, MPI_SUM, comm);
    REQUIRE(slab->count == 0 || slab->first == (rank ? before : 0));
    MPI_Allreduce(MPI_IN_PLACE, &counted, 1, MPI_INT64_T, MPI_SUM, comm);
    REQUIRE(counted == elements && (slab->data || !slab->count));
    if (slab->count)
        memcpy(all + slab->first * extent, slab->data, (size_t)(slab->count * extent));
    MPI_Allreduce(MPI_IN_PLACE, all, (int)(elements * extent), MPI_UNSIGNED_CHAR, MPI_BOR, comm);
    file.slabs[at] = *slab;
    file.bytes[at] = all;
}

static int find(const char *name)
{
    int at = 0;
    while (at < file.count && strcmp(file.slabs[at].name, name) != 0)
        at++;
    REQUIRE(at < file.count);
    return at;
}

static int file_shape(void *context, struct slab *slab, struct error *error)
{
    (void)context, (void)error;
    int at = find(slab->name);
    slab->dims = file.slabs[at].dims;
    memcpy(slab->extent, file.slabs[at].extent, sizeof slab->extent);
    return 0;
}

static int file_read(void *context, struct slab *slab, struct error *error)
{
    (void)context, (void)error;
    int64_t extent = extent_of(slab->type);
    if (slab->count)
        memcpy(slab->data, file.bytes[find(slab->name)] + slab->first * extent, (size_t)(slab->count * extent));
    return 0;
}

static void save(MPI_Comm comm, int rank, int size)
{
    epop_description_t d;
    epop_window_t still;
    struct error error;
    make(rank, size);
    list(&d);
    REQUIRE(describe_still(comm, &still) == EPOP_OK);
    for (int i = 0; i < d.count; i++) {
        struct slab slabs[SLABS];
        int count = d.entries[i].flags & EPOP_SCRATCH
                        ? 0
                        : d.entries[i].kind->save(&d.entries[i], &still, slabs, SLABS, &error);
        REQUIRE(count >= 0);
        for (int s = 0; s < count; s++) {
            store(comm, &slabs[s]);
            if (slabs[s].owned)
                free(slabs[s].data);
        }
    }
    memset(data.local[S], 0, (size_t)(count_of(S, rank, size) * type_of(S)->extent)); /* as a new one */
    check(rank, size);                                                                /* it is untouched */
    describe_still_free(&still);
    describe_free(&d);
    drop();
}

static void load(MPI_Comm comm, int rank, int size)
{
    epop_description_t d;
    epop_window_t still;
    struct error error;
    list(&d);
    REQUIRE(describe_still(comm, &still) == EPOP_OK);
    for (int i = 0; i < d.count; i++) {
        struct described *entry = &d.entries[i];
        if (entry->flags & EPOP_SCRATCH)
            REQUIRE(entry->kind->allocate(entry, rank, size) == EPOP_OK);
        else
            REQUIRE(!entry->kind->load(entry, &still, &(struct slab_reader){.shape = file_shape, .read = file_read},
                                       &error));
    }
    check(rank, size);
    describe_still_free(&still);
    describe_release(&d);
    for (int kind = 0; kind < KINDS; kind++)
        REQUIRE(!data.local[kind]);
    describe_free(&d);
}

/* What the first ranks saved reaches all, of which the first `ranks` load it. */
static void round_checkpoint(MPI_Comm comms[], int size)
{
    int rank, writers = 1 + (int)pick(size), readers = 1 + (int)pick(size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    random_shape(&data.shape);
    file.count = 0;
    if (rank < writers)
        save(comms[writers - 1], rank, writers);
    MPI_Bcast(&file.count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(file.slabs, (int)sizeof file.slabs, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < file.count; i++) {
        int64_t bytes = elements_of(&file.slabs[i]) * extent_of(file.slabs[i].type);
        if (rank >= writers)
            file.bytes[i] = malloc((size_t)bytes + 1);
        MPI_Bcast(file.bytes[i], (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (rank < readers)
        load(comms[readers - 1], rank, readers);
    for (int i = 0; i < file.count; i++)
        free(file.bytes[i]);
}

int main(int argc, char **argv)
{
    struct rounds rounds;
    MPI_Init(&argc, &argv);
    rounds_begin(&rounds, "test_describe", 80, argc, argv);
    make_types(types);
    for (int round = 0; round < rounds.count; round++) {
        rounds_set(&rounds, round);
        int last = rounds_last(&rounds);
        if (round % 2)
            round_checkpoint(rounds.firsts, rounds.size);
        else if (rounds.rank <= last)
            round_window(rounds.firsts[last]);
    }
    rounds_end(&rounds);
    free_types(types);
    MPI_Finalize();
    return 0;
}
