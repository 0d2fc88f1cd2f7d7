/*
 * Property test of the described kinds beyond arrays: for random data and world changes each row, item and element
 * arrives once, where it belongs; and so it does through a checkpoint that other numbers of ranks write and read.
 * test_kinds [SEED [ROUNDS]] replays a run.
 */
#include <stdbool.h>
#include <string.h>

#include <epop/unstructured.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/exchange.h"
#include "tests/mpi/rounds.h"

enum { SLABS = 16 };

/* A number that depends on its arguments alone. */
static int64_t mix(int64_t a, int64_t b, int64_t below)
{
    uint64_t x = ((uint64_t)a + 1) * 0x9E3779B97F4A7C15u ^ ((uint64_t)b + 1) * 0xC2B2AE3D27D4EB4Fu;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    return (int64_t)((x >> 32) % (uint64_t)below);
}

/* ---- The data ----------------------------------------------------------------------------- */

typedef struct item {
    int64_t id;
    float from; /* the rank that had it first; 4 bytes of a gap follow */
    double mass;
} item_t;

static MPI_Datatype item_type;

/* What its size and content follow from: the same on all ranks. */
struct shape {
    int64_t rows, items, elements, salt;
    int weights; /* of the cuts: 0 none, 1 an array, 2 the nonzeros */
    int wide;    /* row pointers of 8 bytes */
    int divides; /* by a function of its own */
};

struct data {
    struct shape shape;
    epop_dist_t cuts;
    int *weight;
    void *starts;
    int *cols;
    double *values, *x;
    item_t *items;
    int64_t count;
    epop_partition_t partition;
    double *u, *scratch;
};

static int owner_of_item(const void *item, int size, const void *context)
{
    return (int)mix(((const item_t *)item)->id, *(const int64_t *)context, size);
}

static int divide(int64_t count, int size, int *owner, const void *context)
{
    for (int64_t i = 0; i < count; i++)
        owner[i] = (int)mix(i, *(const int64_t *)context + size, size);
    return 0;
}

static void describe(void *data, epop_description_t *d)
{
    static const char *const weights[] = {NULL, "weight", "A"};
    struct data *m = data;
    epop_describe_values(d, "shape", &m->shape, sizeof m->shape);
    m->partition.divide = m->shape.divides ? divide : NULL;
    m->partition.context = &m->shape.salt;
    const epop_row_array_t arrays[] = {{MPI_INT, &m->cols}, {MPI_DOUBLE, &m->values}};
    epop_describe_cuts(d, "rows", &m->cuts, weights[m->shape.weights]);
    epop_describe_csr(d, "A", &m->starts, m->shape.wide ? MPI_INT64_T : MPI_INT, m->cuts, arrays, 2, 0);
    epop_describe_array(d, "weight", &m->weight, MPI_INT, m->cuts, 0);
    epop_describe_array(d, "x", &m->x, MPI_DOUBLE, epop_dist_block(m->shape.rows), 0);
    epop_describe_items(d, "p", &m->items, &m->count, item_type, owner_of_item, &m->shape.salt, 0);
    epop_describe_partition(d, "parts", &m->partition);
    epop_describe_owned(d, "u", &m->u, MPI_DOUBLE, &m->partition, 0);
    epop_describe_owned(d, "scratch", &m->scratch, MPI_DOUBLE, &m->partition, EPOP_SCRATCH);
}

static struct shape random_shape(void)
{
    struct shape s;
    memset(&s, 0, sizeof s);
    s.rows = pick(3) ? pick(12) : pick(400);
    s.items = pick(3) ? pick(30) : pick(3000);
    s.elements = pick(3) ? pick(12) : pick(2000);
    s.salt = pick(1000);
    s.weights = (int)pick(3);
    s.wide = (int)pick(2);
    s.divides = (int)pick(2);
    return s;
}

static int64_t row_length(const struct shape *s, int64_t row)
{
    return mix(row, s->salt, 3) ? mix(row, s->salt + 1, 9) : 0;
}

static int64_t weight_of(const struct shape *s, int64_t row)
{
    return mix(row, s->salt + 2, 2) ? mix(row, s->salt + 3, 50) : 0;
}

static epop_dist_t random_cuts(const struct shape *s, int size)
{
    epop_dist_t cuts = epop_dist_even_cuts(s->rows, size);
    REQUIRE(cuts.starts);
    for (int r = 1; r < size; r++) {
        int64_t room = s->rows - cuts.starts[r - 1];
        cuts.starts[r] = cuts.starts[r - 1] + (mix(r, s->salt, 3) ? mix(r, s->salt + 4, room + 1) : 0);
    }
    return cuts;
}

static void *room(int64_t bytes)
{
    return bytes ? malloc((size_t)bytes) : NULL;
}

/* ---- Made on the old ranks ------------------------------------------------------------------ */

static void make_rows(struct data *m, int rank, int size)
{
    const struct shape *s = &m->shape;
    int64_t rows = epop_dist_local_count(m->cuts, rank, size), total = 0;
    m->weight = room(rows * (int64_t)sizeof *m->weight);
    m->starts = rows ? room((rows + 1) * 8) : NULL;
    for (int64_t i = 0; i < rows; i++)
        total += row_length(s, epop_dist_global(m->cuts, rank, size, i));
    m->cols = room(total * (int64_t)sizeof *m->cols);
    m->values = room(total * (int64_t)sizeof *m->values);
    total = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = epop_dist_global(m->cuts, rank, size, i);
        m->weight[i] = (int)weight_of(s, row);
        for (int k = 0; k <= 1; k++)
            if (s->wide)
                ((int64_t *)m->starts)[i + k] = total + k * row_length(s, row);
            else
                ((int *)m->starts)[i + k] = (int)(total + k * row_length(s, row));
        for (int64_t k = 0; k < row_length(s, row); k++, total++) {
            m->cols[total] = (int)mix(row, k, 1 << 30);
            m->values[total] = (double)(row * 1000 + k);
        }
    }
}

static void make_items(struct data *m, int rank, int size)
{
    m->items = room(m->shape.items * (int64_t)sizeof *m->items);
    for (int64_t id = 0; id < m->shape.items; id++)
        if (mix(id, m->shape.salt + 5, size) == rank)
            m->items[m->count++] = (item_t){.id = id, .from = (float)rank, .mass = (double)id / 3};
}

static void make_owned(struct data *m, int rank, int size)
{
    epop_partition_t *p = &m->partition;
    p->count = m->shape.elements;
    p->ranks = size;
    p->owner = malloc(((size_t)p->count + 1) * sizeof *p->owner);
    for (int64_t i = 0; i < p->count; i++)
        p->owner[i] = (int)mix(i, m->shape.salt + 6, size);
    int64_t count = epop_partition_local(p, rank, NULL), *indices = malloc(((size_t)count + 1) * sizeof *indices);
    REQUIRE(epop_partition_local(p, rank, indices) == count);
    m->u = room(count * (int64_t)sizeof *m->u);
    m->scratch = room(count * (int64_t)sizeof *m->scratch);
    for (int64_t i = 0; i < count; i++)
        m->u[i] = m->scratch[i] = (double)indices[i] + 0.5;
    free(indices);
}

static void make_data(struct data *m, struct shape shape, int rank, int size)
{
    memset(m, 0, sizeof *m);
    if (rank < 0)
        return;
    m->shape = shape;
    m->cuts = random_cuts(&shape, size);
    make_rows(m, rank, size);
    int64_t count = epop_dist_local_count(epop_dist_block(shape.rows), rank, size);
    m->x = room(count * (int64_t)sizeof *m->x);
    for (int64_t i = 0; i < count; i++)
        m->x[i] = (double)epop_dist_global(epop_dist_block(shape.rows), rank, size, i);
    make_items(m, rank, size);
    make_owned(m, rank, size);
}

/* ---- Looked at on the new ones ---------------------------------------------------------------- */

/* What a row weighs: 1 where all weigh nothing. */
static int64_t weight_in(const struct shape *s, int64_t row, bool alike)
{
    return alike ? 1 : s->weights == 1 ? weight_of(s, row) : row_length(s, row);
}

static bool weighs_nothing(const struct shape *s)
{
    for (int64_t row = 0; row < s->rows; row++)
        if (weight_in(s, row, false))
            return false;
    return true;
}

/* Each part is off by the largest weight at most; where there are no weights the parts are even. */
static void check_cuts(const struct data *m, int size)
{
    const struct shape *s = &m->shape;
    int64_t all = 0, most = 0;
    bool alike = weighs_nothing(s);
    REQUIRE(m->cuts.kind == EPOP_DIST_CUTS && m->cuts.ranks == size && m->cuts.count == s->rows);
    for (int64_t row = 0; row < s->rows; row++) {
        int64_t w = weight_in(s, row, alike);
        all += w;
        most = w > most ? w : most;
    }
    for (int r = 0; r < size; r++) {
        int64_t part = 0, rows = epop_dist_local_count(m->cuts, r, size);
        for (int64_t row = m->cuts.starts[r]; row < m->cuts.starts[r + 1]; row++)
            part += weight_in(s, row, alike);
        REQUIRE(s->weights || rows == epop_dist_local_count(epop_dist_block(s->rows), r, size));
        REQUIRE(!s->weights || (part * size <= all + most * size && part * size >= all - most * size));
    }
}

static int64_t start_of(const struct data *m, int64_t row)
{
    return m->shape.wide ? ((int64_t *)m->starts)[row] : ((int *)m->starts)[row];
}

static void check_rows(const struct data *m, int rank, int size)
{
    int64_t rows = epop_dist_local_count(m->cuts, rank, size), at = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = epop_dist_global(m->cuts, rank, size, i);
        REQUIRE(m->weight[i] == weight_of(&m->shape, row));
        REQUIRE(start_of(m, i) == at && start_of(m, i + 1) == at + row_length(&m->shape, row));
        for (int64_t k = 0; k < row_length(&m->shape, row); k++, at++)
            REQUIRE(m->cols[at] == mix(row, k, 1 << 30) && m->values[at] == (double)(row * 1000 + k));
    }
    int64_t count = epop_dist_local_count(epop_dist_block(m->shape.rows), rank, size);
    for (int64_t i = 0; i < count; i++)
        REQUIRE(m->x[i] == (double)epop_dist_global(epop_dist_block(m->shape.rows), rank, size, i));
}

/* All of a rank's, each once, in the order in which the ranks had them that they came from. */
static void check_items(const struct data *m, int rank, int size, bool in_order)
{
    int64_t expected = 0;
    for (int64_t id = 0; id < m->shape.items; id++)
        expected += mix(id, m->shape.salt, size) == rank;
    REQUIRE(m->count == expected && (m->count == 0 || m->items));
    for (int64_t i = 0; i < m->count; i++) {
        const item_t *item = &m->items[i], *last = i ? item - 1 : NULL;
        REQUIRE(item->id >= 0 && item->id < m->shape.items && mix(item->id, m->shape.salt, size) == rank);
        REQUIRE(item->mass == (double)item->id / 3);
        REQUIRE(!last || !in_order || last->from < item->from || (last->from == item->from && last->id < item->id));
    }
}

static void check_owned(const struct data *m, int rank, int size)
{
    const epop_partition_t *p = &m->partition;
    int64_t at = 0;
    REQUIRE(p->ranks == size && p->count == m->shape.elements && (p->owner || !p->count));
    for (int64_t i = 0; i < p->count; i++) {
        int owner = m->shape.divides ? (int)mix(i, m->shape.salt + size, size)
                                     : epop_dist_owner(epop_dist_block(p->count), size, i, NULL);
        REQUIRE(p->owner[i] == owner);
        if (owner != rank)
            continue;
        REQUIRE(m->scratch[at] == 0);
        REQUIRE(m->u[at++] == (double)i + 0.5);
    }
    REQUIRE((m->u != NULL) == (at > 0));
}

static bool is_empty(const struct data *m)
{
    return m->cuts.kind == EPOP_DIST_BLOCK && m->cuts.count == 0 && !m->weight && !m->starts && !m->cols &&
           !m->values && !m->x && !m->items && !m->count && !m->partition.owner && !m->u && !m->scratch;
}

static void check_data(const struct data *m, const struct shape *shape, int rank, int size, bool in_order)
{
    REQUIRE(memcmp(&m->shape, shape, sizeof *shape) == 0);
    check_cuts(m, size);
    check_rows(m, rank, size);
    check_items(m, rank, size, in_order);
    check_owned(m, rank, size);
}

/* ---- What the debug driver sums up -------------------------------------------------------------- */

struct totals {
    int64_t count;
    uint64_t sum;
};

static struct totals sums_of(struct data *m, MPI_Comm comm, int rank, int size)
{
    epop_description_t d;
    struct error error;
    struct totals mine = {0, 0}, all = {0, 0};
    if (rank >= 0) {
        REQUIRE(!describe_run(&d, DESCRIBE_LIST, describe, m, NULL, 0, &error));
        for (int i = 0; i < d.count; i++)
            if (!(d.entries[i].flags & EPOP_SCRATCH))
                d.entries[i].kind->sum(&d.entries[i], rank, size, &mine.count, &mine.sum);
        describe_free(&d);
    }
    MPI_Allreduce(&mine.count, &all.count, 1, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(&mine.sum, &all.sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    return all;
}

/* ---- A checkpoint in memory: the slabs of all ranks, on each -------------------------------------- */

struct part {
    char name[256];
    int64_t elements, bytes;
    char *data;
};

struct file {
    struct part values, parts[SLABS * 4];
    int count;
};

static int64_t bytes_of(MPI_Datatype type, int64_t count)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    return count * extent;
}

/* The parts follow each other without gaps, and are the whole. */
static void write_slab(struct file *file, const struct slab *slab, MPI_Comm comm)
{
    struct part *whole = &file->parts[file->count++];
    int rank, size, counts[WORLD_MAX], starts[WORLD_MAX + 1] = {0};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int mine = (int)bytes_of(slab->type, slab->count);
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        starts[r + 1] = starts[r] + counts[r];
    *whole =
        (struct part){.elements = slab->extent[0], .bytes = starts[size], .data = malloc((size_t)starts[size] + 1)};
    strcpy(whole->name, slab->name);
    REQUIRE(slab->dims == 1 && whole->bytes == bytes_of(slab->type, slab->extent[0]));
    REQUIRE(!slab->count || starts[rank] == bytes_of(slab->type, slab->first));
    MPI_Allgatherv(slab->data, mine, MPI_BYTE, whole->data, counts, starts, MPI_BYTE, comm);
    if (slab->owned)
        free(slab->data);
}

static void write_file(struct file *file, struct data *m, MPI_Comm comm)
{
    epop_description_t d;
    epop_window_t still;
    struct error error = {.code = ERROR_NONE};
    REQUIRE(!describe_run(&d, DESCRIBE_LIST, describe, m, NULL, 0, &error));
    REQUIRE(describe_still(comm, &still) == EPOP_OK);
    size_t bytes;
    file->values.data = describe_values_pack(&d, &bytes);
    file->values.bytes = (int64_t)bytes;
    for (int i = 0; i < d.count; i++) {
        struct slab slabs[SLABS];
        if (d.entries[i].flags & EPOP_SCRATCH)
            continue;
        int count = d.entries[i].kind->save(&d.entries[i], &still, slabs, SLABS, &error);
        REQUIRE(count >= 0 && error.code == ERROR_NONE);
        for (int k = 0; k < count; k++)
            write_slab(file, &slabs[k], comm);
    }
    describe_still_free(&still);
    describe_free(&d);
}

static void broadcast_part(struct part *part, int root, bool has, MPI_Comm comm)
{
    char *mine = part->data;
    MPI_Bcast(part, sizeof *part, MPI_BYTE, root, comm);
    part->data = has ? mine : malloc((size_t)part->bytes + 1);
    MPI_Bcast(part->data, (int)part->bytes, MPI_BYTE, root, comm);
}

/* To those that did not write it. */
static void broadcast_file(struct file *file, int root, bool has, MPI_Comm comm)
{
    MPI_Bcast(&file->count, 1, MPI_INT, root, comm);
    broadcast_part(&file->values, root, has, comm);
    for (int i = 0; i < file->count; i++)
        broadcast_part(&file->parts[i], root, has, comm);
}

static const struct part *find_part(const struct file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (!strcmp(file->parts[i].name, name))
            return &file->parts[i];
    return NULL;
}

static int shape_of(void *context, struct slab *slab, struct error *error)
{
    const struct part *whole = find_part(context, slab->name);
    (void)error;
    REQUIRE(whole && whole->bytes == bytes_of(slab->type, whole->elements));
    slab->dims = 1;
    slab->extent[0] = whole->elements;
    return 0;
}

static int read_slab(void *context, struct slab *slab, struct error *error)
{
    const struct part *whole = find_part(context, slab->name);
    (void)error;
    REQUIRE(slab->first >= 0 && slab->first + slab->count <= whole->elements);
    if (slab->count)
        memcpy(slab->data, whole->data + bytes_of(slab->type, slab->first), (size_t)bytes_of(slab->type, slab->count));
    return 0;
}

static void restart(struct file *file, struct data *m, MPI_Comm comm)
{
    epop_description_t d;
    epop_window_t still;
    struct error error = {.code = ERROR_NONE};
    const struct slab_reader reader = {.context = file, .shape = shape_of, .read = read_slab};
    memset(m, 0, sizeof *m);
    REQUIRE(describe_still(comm, &still) == EPOP_OK);
    REQUIRE(!describe_run(&d, DESCRIBE_FILL, describe, m, file->values.data, (size_t)file->values.bytes, &error));
    for (int i = 0; i < d.count; i++)
        if (d.entries[i].flags & EPOP_SCRATCH)
            REQUIRE(d.entries[i].kind->allocate(&d.entries[i], still.new_rank, still.new_size) == EPOP_OK);
        else
            REQUIRE(!d.entries[i].kind->load(&d.entries[i], &still, &reader, &error));
    describe_free(&d);
    describe_still_free(&still);
}

static void free_file(struct file *file)
{
    for (int i = 0; i < file->count; i++)
        free(file->parts[i].data);
    free(file->values.data);
}

static void free_data(struct data *m)
{
    epop_description_t d;
    struct error error;
    REQUIRE(!describe_run(&d, DESCRIBE_LIST, describe, m, NULL, 0, &error));
    describe_release(&d);
    describe_free(&d);
    REQUIRE(is_empty(m));
}

/* ---- Rounds ---------------------------------------------------------------------------------------- */

static void random_limits(void)
{
    static const int64_t staged[] = {32, 100, 1000, 128 << 10};
    redist_staged_bytes = staged[pick(4)];
    redist_direct_bytes = pick(2) ? 1 << 30 : 1 + pick(3000);
}

static void round_window(const test_world *world, struct data *m, const struct shape *shape)
{
    const epop_window_t *window = &world->window;
    make_data(m, *shape, window->old_rank, window->old_size);
    struct totals before = sums_of(m, window->all, window->old_rank, window->old_size);
    REQUIRE(describe_window(window, describe, m) == EPOP_OK);
    if (window->new_rank < 0)
        REQUIRE(is_empty(m));
    else
        check_data(m, shape, window->new_rank, window->new_size, true);
    struct totals after = sums_of(m, window->all, window->new_rank, window->new_size);
    REQUIRE(before.count == after.count && before.sum == after.sum);
}

/* The rank in window->all of the first new one. */
static int first_of(const epop_window_t *window)
{
    int rank = 0;
    while (window->new_ranks[rank] != 0)
        rank++;
    return rank;
}

static void check_restarted(struct data *m, const struct shape *shape, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    check_data(m, shape, rank, size, false); /* in the order of the ranks that wrote them */
}

/* What the ranks of a window had afterwards is written, and read by others. */
static void round_checkpoint(const test_world *world, struct data *m, const struct shape *shape, MPI_Comm readers)
{
    const epop_window_t *window = &world->window;
    bool writes = window->new_rank >= 0;
    static struct file file;
    MPI_Comm writers;
    memset(&file, 0, sizeof file);
    MPI_Comm_split(window->all, writes, window->new_rank, &writers);
    if (writes)
        write_file(&file, m, writers);
    MPI_Comm_free(&writers);
    broadcast_file(&file, first_of(window), writes, window->all);
    if (readers != MPI_COMM_NULL) {
        struct data again;
        restart(&file, &again, readers);
        check_restarted(&again, shape, readers);
        free_data(&again);
    }
    free_file(&file);
}

static void play_round(MPI_Comm comm, MPI_Comm readers)
{
    test_world world;
    struct data m;
    random_world(&world, comm);
    random_limits();
    struct shape shape = random_shape();
    round_window(&world, &m, &shape);
    round_checkpoint(&world, &m, &shape, readers);
    if (world.window.new_rank >= 0)
        free_data(&m);
}

/* Items alone: what travels is what changes its owner. */
static void describe_items(void *data, epop_description_t *d)
{
    struct data *m = data;
    epop_describe_values(d, "shape", &m->shape, sizeof m->shape);
    epop_describe_items(d, "p", &m->items, &m->count, item_type, owner_of_item, &m->shape.salt, 0);
}

static void play_items(MPI_Comm comm)
{
    test_world world;
    random_world(&world, comm);
    random_limits();
    const epop_window_t *window = &world.window;
    struct data m = {.count = 0};
    int64_t moves = 0;
    struct shape shape = random_shape();
    if (window->old_rank >= 0) {
        m.shape = shape;
        make_items(&m, window->old_rank, window->old_size);
    }
    for (int64_t i = 0; i < m.count; i++)
        moves += mix(m.items[i].id, shape.salt, window->new_size) != window->new_rank;
    sent_bytes = empty_messages = 0;
    REQUIRE(describe_window(window, describe_items, &m) == EPOP_OK);
    REQUIRE(sent_bytes == moves * 20 && empty_messages == 0); /* without the gap */
    if (window->new_rank >= 0)
        check_items(&m, window->new_rank, window->new_size, true);
    free(m.items);
}

/* ---- All of it ------------------------------------------------------------------------------------------ */

static void make_item_type(void)
{
    int lengths[] = {1, 1, 1};
    MPI_Aint at[] = {offsetof(item_t, id), offsetof(item_t, from), offsetof(item_t, mass)};
    MPI_Datatype types[] = {MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE};
    MPI_Type_create_struct(3, lengths, at, types, &item_type);
    MPI_Type_commit(&item_type);
}

int main(int argc, char **argv)
{
    struct rounds rounds;
    MPI_Init(&argc, &argv);
    rounds_begin(&rounds, "test_kinds", 200, argc, argv);
    make_item_type();
    for (int round = 0; round < rounds.count; round++) {
        rounds_set(&rounds, round);
        int last = rounds_last(&rounds), readers = (int)pick(last + 1);
        if (rounds.rank > last)
            continue;
        if (round % 3)
            play_round(rounds.firsts[last], rounds.rank <= readers ? rounds.firsts[readers] : MPI_COMM_NULL);
        else
            play_items(rounds.firsts[last]);
    }
    rounds_end(&rounds);
    MPI_Type_free(&item_type);
    MPI_Finalize();
    return 0;
}
