/*
 * Property test: for random boxes, grids, ghosts, element types and world changes every element of the new arrays is
 * right, every ghost and the boundary too, and what travels is what has to. test_blocks [SEED [ROUNDS]] replays a run.
 */
#include <string.h>

#include "runtime/redist/blocks.h"
#include "runtime/redist/exchange.h"
#include "tests/mpi/redist_types.h"
#include "tests/mpi/rounds.h"

enum { D = EPOP_BLOCKS_DIMS };

static void random_limits(void)
{
    static const int64_t staged[] = {32, 100, 1000, 128 << 10};
    redist_staged_bytes = staged[pick(4)];
    redist_direct_bytes = pick(2) ? 1 << 30 : 1 + pick(3000);
}

/* Some dimensions given, others open. */
static void random_grid(epop_blocks_t *blocks, int size)
{
    for (int i = 0; i < blocks->dims; i++) {
        blocks->grid[i] = pick(2) ? 0 : 1 + (int)pick(size);
        size /= blocks->grid[i] ? blocks->grid[i] : 1;
    }
}

/* As many ghosts as fit, counted block by block. */
static void trim_ghosts(epop_blocks_t *blocks, int size)
{
    int grid[D];
    REQUIRE(epop_blocks_grid(blocks, size, grid) == EPOP_OK);
    for (int i = 0; i < blocks->dims; i++) {
        int parts = 0;
        int64_t least = INT64_MAX;
        for (int p = 0; p < grid[i]; p++) {
            int64_t count = epop_dist_local_count(epop_dist_block(blocks->count[i]), p, grid[i]);
            parts += count > 0;
            least = count > 0 && count < least ? count : least;
        }
        if ((parts > 1 || blocks->periodic[i]) && blocks->ghosts[i] > least)
            blocks->ghosts[i] = (int)least;
    }
}

static epop_blocks_t random_blocks(int size)
{
    static const int most[D + 1] = {0, 400, 30, 12, 6, 4, 3};
    epop_blocks_t blocks = {.dims = 1 + (int)pick(pick(3) ? 3 : D)};
    for (int i = 0; i < blocks.dims; i++) {
        blocks.count[i] = pick(40) ? 1 + pick(most[blocks.dims]) : 0;
        blocks.ghosts[i] = (int)pick(4) % 3;
        blocks.periodic[i] = (int)pick(2);
    }
    random_grid(&blocks, size);
    return blocks;
}

/* ---- What is where, found by looking at each element ------------------------------------ */

typedef struct local {
    const epop_blocks_t *blocks;
    int rank, size, grid[D];
    int64_t first[D], count[D], elements;
} local;

static local local_of(const epop_blocks_t *blocks, int rank, int size)
{
    local l = {.blocks = blocks, .rank = rank, .size = size};
    REQUIRE(epop_blocks_grid(blocks, size, l.grid) == EPOP_OK);
    REQUIRE(epop_blocks_local(blocks, rank, size, l.first, l.count) == EPOP_OK);
    l.elements = 1;
    for (int i = 0; i < blocks->dims; i++)
        l.elements *= l.count[i] ? l.count[i] + 2 * blocks->ghosts[i] : 0;
    REQUIRE(epop_blocks_elements(blocks, rank, size) == l.elements);
    return l;
}

static int64_t edge(const epop_blocks_t *blocks, int i)
{
    return blocks->periodic[i] ? 0 : blocks->ghosts[i];
}

/* The owner of an element of a local array, and the number that its content is made of. */
static int owner(const local *l, int64_t element, int64_t *id)
{
    const epop_blocks_t *b = l->blocks;
    int64_t at[D];
    int rank = 0;
    *id = 0;
    for (int i = b->dims - 1; i >= 0; i--) {
        int64_t width = l->count[i] + 2 * b->ghosts[i];
        at[i] = l->first[i] - b->ghosts[i] + element % width;
        element /= width;
    }
    for (int i = 0; i < b->dims; i++) {
        if (b->periodic[i])
            at[i] = (at[i] + b->count[i]) % b->count[i];
        int64_t inside = at[i] < 0 ? 0 : at[i] >= b->count[i] ? b->count[i] - 1 : at[i];
        rank = rank * l->grid[i] + epop_dist_owner(epop_dist_block(b->count[i]), l->grid[i], inside, NULL);
        *id = *id * (b->count[i] + 2 * edge(b, i)) + at[i] + edge(b, i);
    }
    return rank;
}

/* In a periodic dimension that one block has alone a ghost is of the same owner: is it one? */
static bool is_ghost(const local *l, int64_t element)
{
    const epop_blocks_t *b = l->blocks;
    for (int i = b->dims - 1; i >= 0; i--) {
        int64_t width = l->count[i] + 2 * b->ghosts[i], at = l->first[i] - b->ghosts[i] + element % width;
        element /= width;
        bool mine = at >= l->first[i] && at < l->first[i] + l->count[i];
        bool outside = !b->periodic[i] && (at < 0 || at >= b->count[i]);
        bool at_end = at < 0 ? l->first[i] == 0 : l->first[i] + l->count[i] == b->count[i];
        if (!mine && !(outside && at_end))
            return true;
    }
    return false;
}

/* An array with what the rank owns; the ghosts hold nothing of use. */
static char *filled(const test_type *type, const local *l)
{
    char *array = new_block(type, l->elements);
    int64_t id;
    for (int64_t e = 0; e < l->elements; e++) {
        bool ghost = is_ghost(l, e);
        REQUIRE(ghost || owner(l, e, &id) == l->rank);
        put(type, array, e, -7);
    }
    for (int64_t e = 0; e < l->elements; e++)
        if (owner(l, e, &id), !is_ghost(l, e))
            put(type, array, e, id);
    return array;
}

static void check_all(const test_type *type, const char *array, const local *l)
{
    int64_t id;
    for (int64_t e = 0; e < l->elements; e++) {
        owner(l, e, &id);
        REQUIRE(holds(type, array, e, id));
    }
}

/* Elements of mine that are ghosts of others. */
static int64_t ghosts_to_others(const epop_blocks_t *blocks, int rank, int size)
{
    int64_t elements = 0, id;
    for (int r = 0; r < size; r++) {
        local l = local_of(blocks, r, size);
        for (int64_t e = 0; r != rank && e < l.elements; e++)
            elements += is_ghost(&l, e) && owner(&l, e, &id) == rank;
    }
    return elements;
}

/* Elements of mine that another has after the window. */
static int64_t moving(const local *l, const epop_blocks_t *after, const epop_window_t *window)
{
    int64_t elements = 0, id;
    epop_blocks_t shape = *l->blocks; /* the ghosts of periodic dimensions are others after it */
    memcpy(shape.grid, after->grid, sizeof shape.grid);
    local there = local_of(&shape, window->new_rank, window->new_size);
    memcpy(there.first, l->first, sizeof there.first);
    memcpy(there.count, l->count, sizeof there.count);
    for (int64_t e = 0; e < l->elements; e++)
        elements += !is_ghost(l, e) && owner(&there, e, &id) != window->new_rank;
    return elements;
}

static int64_t map_to_others(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                             int rank)
{
    epop_redist_move_t *moves;
    int64_t elements = 0;
    int count;
    REQUIRE(epop_redist_blocks_map(window, before, after, &moves, &count) == EPOP_OK);
    for (int i = 0; i < count; i++)
        elements += moves[i].from == rank && moves[i].to != rank ? moves[i].count : 0;
    free(moves);
    return elements;
}

/* ---- Rounds ------------------------------------------------------------------------------- */

static void round_move(const test_world *world, const test_type *type)
{
    const epop_window_t *window = &world->window;
    epop_blocks_t before = random_blocks(window->old_size), after;
    trim_ghosts(&before, window->old_size);
    after = before;
    random_grid(&after, window->new_size);
    trim_ghosts(&after, window->new_size);
    for (int i = 0; i < before.dims; i++)
        if (!before.periodic[i])
            before.ghosts[i] = after.ghosts[i];
    local old = local_of(&before, window->old_rank, window->old_size);
    local new = local_of(&after, window->new_rank, window->new_size);
    char *array = filled(type, &old);
    int64_t moves = moving(&old, &after, window);
    REQUIRE(moves == map_to_others(window, &before, &after, world->rank));
    if (window->new_rank >= 0)
        moves += ghosts_to_others(&after, window->new_rank, window->new_size);
    sent_bytes = empty_messages = 0;
    REQUIRE(epop_redist_blocks(window, &before, &after, type->type, &array) == EPOP_OK);
    REQUIRE(sent_bytes == moves * type->size && !empty_messages);
    REQUIRE((array != NULL) == (new.elements > 0));
    check_all(type, array, &new);
    free(array);
}

/* To row-major order, as files have it, and back. */
static void round_plain(const test_world *world, const test_type *type)
{
    const epop_window_t *window = &world->window;
    struct redist_layout layouts[2], back[2];
    redist_element element;
    epop_blocks_t blocks = random_blocks(window->old_size), later;
    later = blocks;
    random_grid(&later, window->new_size);
    trim_ghosts(&later, window->new_size);
    memcpy(blocks.ghosts, later.ghosts, sizeof blocks.ghosts);
    REQUIRE(!redist_element_of(type->type, &element));
    REQUIRE(redist_layout_of_blocks(&layouts[0], &blocks, window->old_size) == REDIST_FINE);
    redist_layout_plain(&layouts[1], &layouts[0], window->new_size);
    local old = local_of(&blocks, window->old_rank, window->old_size);
    struct redist_part part = redist_layout_part(&layouts[1], window->new_rank);
    char *array = filled(type, &old), *plain = new_block(type, part.elements);
    REQUIRE(redist_layout_move(window, layouts, &element, array, plain, REDIST_FINE, "test") == EPOP_OK);
    for (int64_t i = 0; i < part.elements; i++)
        REQUIRE(holds(type, plain, i, part.from + i));
    redist_layout_plain(&back[0], &layouts[0], window->old_size);
    REQUIRE(redist_layout_of_blocks(&back[1], &later, window->new_size) == REDIST_FINE);
    struct redist_part source = redist_layout_part(&back[0], window->old_rank);
    local new = local_of(&later, window->new_rank, window->new_size);
    free(array);
    free(plain);
    plain = new_block(type, source.elements);
    array = new_block(type, new.elements);
    for (int64_t i = 0; i < source.elements; i++)
        put(type, plain, i, source.from + i);
    REQUIRE(redist_layout_move(window, back, &element, plain, array, REDIST_FINE, "test") == EPOP_OK);
    check_all(type, array, &new);
    free(array);
    free(plain);
}

/* In the whole world; sometimes of two arrays at a time, and with the ghosts of the one before. */
static void round_halo(const test_type types[TEST_TYPES])
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const test_type *type[] = {&types[pick(TEST_TYPES)], &types[pick(TEST_TYPES)]};
    epop_blocks_t blocks[2];
    local l[2];
    char *array[2];
    epop_halo_t *halo[2] = {NULL, NULL};
    int64_t ghosts = 0;
    for (int i = 0; i < 2; i++) {
        blocks[i] = random_blocks(size);
        trim_ghosts(&blocks[i], size);
        l[i] = local_of(&blocks[i], rank, size);
        array[i] = filled(type[i], &l[i]);
        ghosts += ghosts_to_others(&blocks[i], rank, size) * type[i]->size;
    }
    sent_bytes = empty_messages = 0;
    if (pick(2)) {
        for (int i = 0; i < 2; i++)
            REQUIRE(epop_halo_start(&blocks[i], type[i]->type, array[i], &halo[i]) == EPOP_OK);
        for (int i = 1; i >= 0; i--)
            REQUIRE(epop_halo_finish(&halo[i]) == EPOP_OK && !halo[i]);
    } else {
        for (int i = 0; i < 2; i++)
            REQUIRE(epop_halo_exchange(&blocks[i], type[i]->type, array[i]) == EPOP_OK);
    }
    REQUIRE(sent_bytes == ghosts && !empty_messages);
    for (int i = 0; i < 2; i++) {
        check_all(type[i], array[i], &l[i]);
        free(array[i]);
    }
}

/* ---- The rest --------------------------------------------------------------------------------- */

/* What does not move keeps its address, and only ghosts travel. */
static void test_in_place(void)
{
    test_world world;
    const int stay[WORLD_MAX] = {0};
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_world(&world, MPI_COMM_WORLD, size, stay);
    const epop_blocks_t blocks = {.dims = 2, .count = {12, 9}, .ghosts = {1, 1}, .grid = {size, 1}};
    test_type type = make_plain(MPI_DOUBLE, "double", 8);
    local l = local_of(&blocks, world.rank, size);
    char *array = filled(&type, &l), *kept = array;
    sent_bytes = 0;
    REQUIRE(epop_redist_blocks(&world.window, &blocks, &blocks, MPI_DOUBLE, &array) == EPOP_OK);
    REQUIRE(array == kept && sent_bytes == ghosts_to_others(&blocks, world.rank, size) * 8);
    check_all(&type, array, &l);
    free(array);
}

/* Where MPI has a say it is as MPI has it. */
static void test_grids(void)
{
    for (int size = 1; size <= 40; size++) {
        for (int dims = 1; dims <= 3; dims++) {
            int grid[D], theirs[D] = {0};
            const epop_blocks_t blocks = {.dims = dims};
            REQUIRE(epop_blocks_grid(&blocks, size, grid) == EPOP_OK);
            MPI_Dims_create(size, dims, theirs);
            for (int i = 0; i < dims; i++)
                REQUIRE(grid[i] == theirs[i]);
        }
    }
}

static void play_round(const struct rounds *rounds, int round, const test_type types[TEST_TYPES])
{
    test_world world;
    int last = rounds_last(rounds);
    if (round % 4 == 0) {
        round_halo(types);
        return;
    }
    if (rounds->rank > last)
        return;
    random_world(&world, rounds->firsts[last]);
    random_limits();
    if (round % 4 == 1)
        round_plain(&world, &types[pick(TEST_TYPES)]);
    else
        round_move(&world, &types[pick(TEST_TYPES)]);
}

int main(int argc, char **argv)
{
    struct rounds rounds;
    test_type types[TEST_TYPES];
    MPI_Init(&argc, &argv);
    rounds_begin(&rounds, "test_blocks", 400, argc, argv);
    make_types(types);
    test_grids();
    test_in_place();
    for (int round = 0; round < rounds.count; round++) {
        rounds_set(&rounds, round);
        play_round(&rounds, round, types);
    }
    rounds_end(&rounds);
    free_types(types);
    MPI_Finalize();
    return 0;
}
