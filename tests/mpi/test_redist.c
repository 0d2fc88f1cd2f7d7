/*
 * Property test: for random counts, distributions, element types and world changes every element arrives once,
 * exactly, and what travels is what the map says. test_redist [SEED [ROUNDS]] replays a run.
 */
#include <string.h>
#include <time.h>

#include "runtime/redist/exchange.h"
#include "tests/mpi/redist_types.h"
#include "tests/mpi/redist_world.h"

extern int64_t redist_replicated_bytes;

/* The same numbers on every rank. */
static uint64_t random_state;

static int64_t pick(int64_t count)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)count);
}

static epop_dist_t random_dist(int64_t count)
{
    switch (pick(4)) {
    case 0:
        return epop_dist_block(count);
    case 1:
        return epop_dist_cyclic(count);
    default:
        return epop_dist_block_cyclic(count, 1 + pick(pick(2) ? 5 : 64));
    }
}

static epop_dist2d_t random_matrix(int64_t rows, int64_t cols, int size)
{
    epop_dist2d_t dist = {.rows = random_dist(rows), .cols = random_dist(cols), .column_major = (int)pick(2)};
    if (pick(2)) {
        epop_grid_near_square(size, &dist.grid_rows, &dist.grid_cols);
    } else {
        dist.grid_rows = 1 + (int)pick(size);
        dist.grid_cols = 1 + (int)pick(size / dist.grid_rows);
    }
    return dist;
}

/* Random messages: small data shall meet every way to cut and stage it. */
static void random_limits(void)
{
    static const int64_t staged[] = {32, 100, 1000, 128 << 10};
    redist_staged_bytes = staged[pick(4)];
    redist_direct_bytes = pick(2) ? 1 << 30 : 1 + pick(3000);
    redist_replicated_bytes = pick(2) ? 4 << 20 : 1 + pick(100);
}

/* Expand, shrink, both, or neither; leaving ranks anywhere, seldom all of them. */
static void random_world(test_world *world, MPI_Comm comm)
{
    int size, leaves[WORLD_MAX] = {0};
    MPI_Comm_size(comm, &size);
    int old_size = 1 + (int)pick(size), kind = (int)pick(4), all_leave = pick(10) == 0 && old_size < size;
    for (int r = 0; r < old_size; r++)
        leaves[r] = all_leave || (r > 0 && kind > 0 && pick(kind + 1) > 0);
    make_world(world, comm, old_size, leaves);
}

/* The global number of an element of a local block. */
static int64_t id_of(const epop_dist2d_t *dist, int rank, int64_t at)
{
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    int64_t row = dist->column_major ? at % rows : at / cols, col = dist->column_major ? at / rows : at % cols;
    return epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, row) * dist->cols.count +
           epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, col);
}

static int64_t local_count(const epop_dist2d_t *dist, int rank)
{
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    return rows * cols;
}

/* Elements that the map lets this rank send to others. */
static int64_t outgoing(const test_world *world, const epop_redist_move_t *moves, int count)
{
    int64_t elements = 0;
    for (int i = 0; i < count; i++) {
        REQUIRE(moves[i].count > 0);
        REQUIRE(i == 0 || moves[i - 1].from < moves[i].from ||
                (moves[i - 1].from == moves[i].from && moves[i - 1].to < moves[i].to));
        if (moves[i].from == world->rank && moves[i].to != world->rank)
            elements += moves[i].count;
    }
    return elements;
}

static void reset_counters(void)
{
    sent_bytes = sent_messages = empty_messages = 0;
}

/* The least that this rank can send, found by asking for the owner of every element. */
static int64_t least(const test_world *world, const epop_dist2d_t *before, const epop_dist2d_t *after)
{
    int64_t elements = 0, count = local_count(before, world->window.old_rank), cols = before->cols.count;
    for (int64_t i = 0; i < count; i++) {
        int64_t id = id_of(before, world->window.old_rank, i);
        int now = epop_dist_owner(after->rows, after->grid_rows, id / cols, NULL) * after->grid_cols +
                  epop_dist_owner(after->cols, after->grid_cols, id % cols, NULL);
        elements += world->window.new_rank != now;
    }
    return elements;
}

/* Moves a matrix (or, with one_row, an array), and looks at every element of the new block. */
static void check_matrix(const test_world *world, const epop_dist2d_t *before, const epop_dist2d_t *after, int one_row,
                         const test_type *type)
{
    const epop_window_t *window = &world->window;
    int64_t old_count = local_count(before, window->old_rank), new_count = local_count(after, window->new_rank);
    char *old_block = new_block(type, old_count);
    void *block = old_block;
    for (int64_t i = 0; i < old_count; i++)
        put(type, old_block, i, id_of(before, window->old_rank, i));
    epop_redist_move_t *moves = NULL;
    int count = 0;
    REQUIRE((one_row ? epop_redist_map(window, before->cols, &moves, &count)
                     : epop_redist2d_map(window, before, after, &moves, &count)) == EPOP_OK);
    reset_counters();
    REQUIRE((one_row ? epop_redist(window, before->cols, type->type, &block)
                     : epop_redist2d(window, before, after, type->type, &block)) == EPOP_OK);
    REQUIRE(sent_bytes == outgoing(world, moves, count) * type->size);
    REQUIRE(sent_bytes == least(world, before, after) * type->size);
    REQUIRE(empty_messages == 0);
    REQUIRE((block != NULL) == (new_count > 0));
    for (int64_t i = 0; i < new_count; i++)
        REQUIRE(holds(type, block, i, id_of(after, window->new_rank, i)));
    free(block);
    free(moves);
}

static void round_1d(const test_world *world, const test_type *type)
{
    epop_dist_t dist = random_dist(pick(2) ? pick(20) : pick(3000));
    epop_dist2d_t before = {.rows = epop_dist_block(1), .cols = dist, .grid_rows = 1}, after = before;
    before.grid_cols = world->window.old_size;
    after.grid_cols = world->window.new_size;
    check_matrix(world, &before, &after, 1, type);
}

static void round_2d(const test_world *world, const test_type *type)
{
    int64_t rows = pick(50), cols = pick(50);
    epop_dist2d_t before = random_matrix(rows, cols, world->window.old_size);
    epop_dist2d_t after = random_matrix(rows, cols, world->window.new_size);
    if (pick(2)) { /* as programs do: only the grid changes */
        after.rows = before.rows;
        after.cols = before.cols;
        after.column_major = before.column_major;
    }
    check_matrix(world, &before, &after, 0, type);
}

static int64_t row_length(int64_t row, uint64_t salt)
{
    return byte_of(row + (int64_t)(salt % 1000), 0) % 4 == 0 ? 0 : byte_of(row, (int)(salt % 7)) % 12;
}

/* Element number `at` of a row has the id row * 100 + at. */
static void round_rows(const test_world *world, const test_type *type)
{
    const epop_window_t *window = &world->window;
    epop_dist_t dist = random_dist(pick(400));
    uint64_t salt = random_state;
    int64_t old_rows = epop_dist_local_count(dist, window->old_rank, window->old_size), values = 0, moved = 0, at = 0;
    int64_t *lengths = old_rows ? malloc((size_t)old_rows * sizeof *lengths) : NULL;
    for (int64_t i = 0; i < old_rows; i++)
        values += lengths[i] = row_length(epop_dist_global(dist, window->old_rank, window->old_size, i), salt);
    char *old_block = new_block(type, values);
    void *block = old_block;
    for (int64_t i = 0; i < old_rows; i++) {
        int64_t row = epop_dist_global(dist, window->old_rank, window->old_size, i);
        int leaves = window->new_rank != epop_dist_owner(dist, window->new_size, row, NULL);
        moved += leaves * (lengths[i] * type->size + (int64_t)sizeof *lengths);
        for (int64_t k = 0; k < lengths[i]; k++)
            put(type, old_block, at++, row * 100 + k);
    }
    reset_counters();
    REQUIRE(epop_redist_rows(window, dist, &lengths, type->type, &block) == EPOP_OK);
    REQUIRE(sent_bytes == moved && empty_messages == 0);
    int64_t new_rows = epop_dist_local_count(dist, window->new_rank, window->new_size);
    REQUIRE((lengths != NULL) == (new_rows > 0));
    at = 0;
    for (int64_t i = 0; i < new_rows; i++) {
        int64_t row = epop_dist_global(dist, window->new_rank, window->new_size, i);
        REQUIRE(lengths[i] == row_length(row, salt));
        for (int64_t k = 0; k < lengths[i]; k++)
            REQUIRE(holds(type, block, at++, row * 100 + k));
    }
    REQUIRE((block != NULL) == (at > 0));
    free(lengths);
    free(block);
}

/* A staying rank must not receive: its copy differs in a byte that no other rank has, and must keep it. */
static void round_replicated(const test_world *world, const test_type *type)
{
    const epop_window_t *window = &world->window;
    int64_t count = pick(200), total = 0;
    char *data = malloc((size_t)(count * type->extent + type->overhang + 1));
    REQUIRE(data != NULL);
    for (int64_t i = 0; i < count; i++)
        put(type, data, i, window->old_rank < 0 ? -1 : i);
    reset_counters();
    REQUIRE(epop_redist_replicated(window, data, count, type->type) == EPOP_OK);
    for (int64_t i = 0; i < count; i++)
        REQUIRE(holds(type, data, i, i));
    MPI_Allreduce(&sent_bytes, &total, 1, MPI_INT64_T, MPI_SUM, window->all);
    REQUIRE(total == window->joining * count * type->size && empty_messages == 0);
    REQUIRE(window->status != EPOP_LEAVING || window->staying == 0 || sent_bytes == 0);
    free(data);
}

static void play_round(MPI_Comm comm, const test_type types[TEST_TYPES])
{
    test_world world;
    const test_type *type = &types[pick(TEST_TYPES)];
    random_world(&world, comm);
    random_limits();
    switch (pick(5)) {
    case 0:
        round_replicated(&world, type);
        break;
    case 1:
        round_rows(&world, type);
        break;
    case 2:
        round_1d(&world, type);
        break;
    default:
        round_2d(&world, type);
    }
}

static uint64_t the_seed(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return seed;
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 2 ? atoi(argv[2]) : 400;
    MPI_Comm comms[WORLD_MAX]; /* of the first 1, 2, ... ranks */
    test_type types[TEST_TYPES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t seed = the_seed(argc, argv);
    make_types(types);
    for (int i = 0; i < size; i++)
        MPI_Comm_split(MPI_COMM_WORLD, rank <= i ? 0 : MPI_UNDEFINED, 0, &comms[i]);
    if (rank == 0)
        printf("test_redist: seed %llu, %d rounds\n", (unsigned long long)seed, rounds), fflush(stdout);
    for (int round = 0; round < rounds; round++) {
        random_state = seed + (uint64_t)round * 1000003;
        int member = size - 1 - (int)pick(3) % size;
        if (rank <= member)
            play_round(comms[member], types);
    }
    for (int i = rank; i < size; i++)
        MPI_Comm_free(&comms[i]);
    free_types(types);
    MPI_Finalize();
    if (rank == 0)
        printf("test_redist: ok\n");
    return 0;
}
