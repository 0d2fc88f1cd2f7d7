/*
 * Property test: for random counts, distributions, element types and world changes every element arrives once,
 * exactly, and what travels is what the map says. test_redist [SEED [ROUNDS]] replays a run.
 */
#include <string.h>

#include "runtime/redist/cuts.h"
#include "runtime/redist/exchange.h"
#include "runtime/redist/move.h"
#include "tests/mpi/redist_types.h"
#include "tests/mpi/rounds.h"

extern int64_t redist_replicated_bytes;

/* Cuts at random places, some of them at one; valid until the next round. */
static epop_dist_t random_cuts(int64_t count, int size)
{
    static int64_t pool[16][WORLD_MAX + 1];
    static int next;
    int64_t *starts = pool[next++ % 16];
    starts[0] = 0;
    starts[size] = count;
    for (int r = 1; r < size; r++) {
        int64_t cut = pick(4) ? pick(count + 1) : starts[r - 1];
        int at = r;
        for (; at > 1 && starts[at - 1] > cut; at--)
            starts[at] = starts[at - 1];
        starts[at] = cut;
    }
    return epop_dist_cuts(starts, size);
}

static epop_dist_t random_dist(int64_t count, int size)
{
    switch (pick(5)) {
    case 4:
        return random_cuts(count, size);
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
    epop_dist2d_t dist = {.column_major = (int)pick(2)};
    if (pick(2)) {
        epop_grid_near_square(size, &dist.grid_rows, &dist.grid_cols);
    } else {
        dist.grid_rows = 1 + (int)pick(size);
        dist.grid_cols = 1 + (int)pick(size / dist.grid_rows);
    }
    dist.rows = random_dist(rows, dist.grid_rows);
    dist.cols = random_dist(cols, dist.grid_cols);
    return dist;
}

/* Random messages: small data shall meet every way to cut and stage it. */
static void random_limits(void)
{
    static const int64_t staged[] = {32, 100, 1000, 128 << 10};
    redist_staged_bytes = staged[pick(4)];
    redist_wave_steps = 1 + (int)pick(8);
    redist_direct_bytes = pick(2) ? 1 << 30 : 1 + pick(3000);
    redist_replicated_bytes = pick(2) ? 4 << 20 : 1 + pick(100);
    redist_extended_bytes = pick(2) ? 1 : 32 << 20;
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

/* How an array is moved that lies in one row. */
enum one_row { MATRIX, SAME_RULE, BETWEEN };

static int redistribute(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                        enum one_row one_row, MPI_Datatype type, void **block)
{
    if (one_row == BETWEEN)
        return epop_redist_between(window, before->cols, after->cols, type, block);
    return one_row == SAME_RULE ? epop_redist(window, before->cols, type, block)
                                : epop_redist2d(window, before, after, type, block);
}

/* Moves a matrix or an array, and looks at every element of the new block. */
static void check_matrix(const test_world *world, const epop_dist2d_t *before, const epop_dist2d_t *after,
                         enum one_row one_row, const test_type *type)
{
    const epop_window_t *window = &world->window;
    int64_t old_count = local_count(before, window->old_rank), new_count = local_count(after, window->new_rank);
    char *old_block = new_block(type, old_count);
    void *block = old_block;
    for (int64_t i = 0; i < old_count; i++)
        put(type, old_block, i, id_of(before, window->old_rank, i));
    epop_redist_move_t *moves = NULL;
    int count = 0;
    REQUIRE((one_row ? epop_redist_map(window, before->cols, after->cols, &moves, &count)
                     : epop_redist2d_map(window, before, after, &moves, &count)) == EPOP_OK);
    reset_counters();
    REQUIRE(redistribute(window, before, after, one_row, type->type, &block) == EPOP_OK);
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
    bool large = !pick(12); /* messages that MPI does not copy at once */
    int64_t count = large ? pick(100000) : pick(2) ? pick(20) : pick(3000);
    epop_dist2d_t before = {.rows = epop_dist_block(1), .grid_rows = 1}, after = before;
    before.grid_cols = world->window.old_size;
    after.grid_cols = world->window.new_size;
    before.cols = large ? epop_dist_block_cyclic(count, 1 + pick(20000)) : random_dist(count, before.grid_cols);
    after.cols = pick(2) && before.cols.kind != EPOP_DIST_CUTS ? before.cols : random_dist(count, after.grid_cols);
    bool same = before.cols.kind != EPOP_DIST_CUTS && memcmp(&before.cols, &after.cols, sizeof before.cols) == 0;
    check_matrix(world, &before, &after, same ? SAME_RULE : BETWEEN, type);
}

static void round_2d(const test_world *world, const test_type *type)
{
    int64_t rows = pick(50), cols = pick(50);
    epop_dist2d_t before = random_matrix(rows, cols, world->window.old_size);
    epop_dist2d_t after = random_matrix(rows, cols, world->window.new_size);
    if (pick(2)) { /* as programs do: only the grid changes */
        if (before.rows.kind != EPOP_DIST_CUTS)
            after.rows = before.rows;
        if (before.cols.kind != EPOP_DIST_CUTS)
            after.cols = before.cols;
        after.column_major = before.column_major;
    }
    check_matrix(world, &before, &after, MATRIX, type);
}

static int64_t row_length(int64_t row, uint64_t salt)
{
    return byte_of(row + (int64_t)(salt % 1000), 0) % 4 == 0 ? 0 : byte_of(row, (int)(salt % 7)) % 12;
}

/* Rows of one side of a window, with several arrays. Element number k of a row of array a has the id row * 100 + k + a.
 */
enum { ARRAYS = 3 };

struct rows {
    epop_dist_t dist;
    int rank, size;
    int64_t count, values;
    int width, by_starts;
    void *index, *blocks[ARRAYS];
};

static void put_index(const struct rows *r, int64_t at, int64_t value)
{
    if (r->width == 4)
        ((int *)r->index)[at] = (int)value;
    else
        ((int64_t *)r->index)[at] = value;
}

static int64_t get_index(const struct rows *r, int64_t at)
{
    return r->width == 4 ? ((int *)r->index)[at] : ((int64_t *)r->index)[at];
}

static void make_rows(struct rows *r, const test_type *const types[ARRAYS], uint64_t salt)
{
    int64_t at = 0;
    r->count = epop_dist_local_count(r->dist, r->rank, r->size);
    for (int64_t i = 0; i < r->count; i++)
        r->values += row_length(epop_dist_global(r->dist, r->rank, r->size, i), salt);
    r->index = r->count ? malloc((size_t)(r->count + 1) * 8) : NULL;
    for (int a = 0; a < ARRAYS; a++)
        r->blocks[a] = new_block(types[a], r->values);
    for (int64_t i = 0; i < r->count; i++) {
        int64_t row = epop_dist_global(r->dist, r->rank, r->size, i), length = row_length(row, salt);
        put_index(r, i, r->by_starts ? at : length);
        for (int64_t k = 0; k < length; k++, at++)
            for (int a = 0; a < ARRAYS; a++)
                put(types[a], r->blocks[a], at, row * 100 + k + a);
    }
    if (r->by_starts && r->count)
        put_index(r, r->count, at);
}

static void check_rows(const struct rows *r, const test_type *const types[ARRAYS], int arrays, uint64_t salt)
{
    int64_t at = 0, count = epop_dist_local_count(r->dist, r->rank, r->size);
    REQUIRE((r->index != NULL) == (count > 0 || (r->by_starts && r->rank >= 0)));
    for (int64_t i = 0; i < count; i++) {
        int64_t row = epop_dist_global(r->dist, r->rank, r->size, i), length = row_length(row, salt);
        REQUIRE(get_index(r, i) == (r->by_starts ? at : length));
        for (int64_t k = 0; k < length; k++, at++)
            for (int a = 0; a < arrays; a++)
                REQUIRE(holds(types[a], r->blocks[a], at, row * 100 + k + a));
    }
    if (r->by_starts && r->index)
        REQUIRE(get_index(r, count) == at);
    for (int a = 0; a < arrays; a++)
        REQUIRE((r->blocks[a] != NULL) == (at > 0));
}

/* The bytes of the rows that get another owner; lengths travel as 64-bit numbers. */
static int64_t bytes_of_rows(const struct rows *r, const test_type *const types[ARRAYS], int arrays, epop_dist_t after,
                             const epop_window_t *window, uint64_t salt)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < r->count; i++) {
        int64_t row = epop_dist_global(r->dist, r->rank, r->size, i);
        if (window->new_rank == epop_dist_owner(after, window->new_size, row, NULL))
            continue;
        bytes += 8;
        for (int a = 0; a < arrays; a++)
            bytes += row_length(row, salt) * types[a]->size;
    }
    return bytes;
}

static void round_rows(const test_world *world, const test_type types[TEST_TYPES])
{
    const epop_window_t *window = &world->window;
    int64_t count = pick(2) ? pick(6) : pick(400);
    struct rows r = {.rank = window->old_rank, .size = window->old_size, .width = pick(2) ? 4 : 8};
    const test_type *of[ARRAYS];
    int arrays = (int)pick(ARRAYS + 1);
    uint64_t salt = random_state;
    for (int a = 0; a < ARRAYS; a++)
        of[a] = &types[pick(TEST_TYPES)];
    r.by_starts = (int)pick(2);
    r.dist = random_dist(count, window->old_size);
    epop_dist_t after = pick(2) && r.dist.kind != EPOP_DIST_CUTS ? r.dist : random_dist(count, window->new_size);
    make_rows(&r, of, salt);
    const epop_row_array_t list[ARRAYS] = {
        {of[0]->type, &r.blocks[0]}, {of[1]->type, &r.blocks[1]}, {of[2]->type, &r.blocks[2]}};
    int64_t moved = bytes_of_rows(&r, of, arrays, after, window, salt);
    reset_counters();
    REQUIRE((r.by_starts ? epop_redist_csr : epop_redist_rows)(
                window, r.dist, after, r.width == 4 ? MPI_INT : MPI_INT64_T, &r.index, list, arrays) == EPOP_OK);
    REQUIRE(sent_bytes == moved && empty_messages == 0);
    r.dist = after;
    r.rank = window->new_rank;
    r.size = window->new_size;
    check_rows(&r, of, arrays, salt);
    free(r.index);
    for (int a = 0; a < ARRAYS; a++)
        free(r.blocks[a]);
}

/* ---- Cuts ---- */

static int64_t weight_of(int64_t index, int kind)
{
    switch (kind) {
    case 0:
        return byte_of(index, 1) % 8;
    case 1:
        return 0;
    case 2:
        return index % 17 ? 0 : 1000;
    default:
        return (int64_t)byte_of(index, 2) << 43; /* sums beyond what a double has */
    }
}

/* Each rank's part is that of its share, but for the largest weight; who has no share has no weight. */
static void check_parts(epop_dist_t after, int kind, const double shares[WORLD_MAX])
{
    long double total = 0, all = 0, most = 0, so_far = 0, parts = 0;
    bool none = true;
    for (int64_t i = 0; i < after.count; i++)
        none = none && (kind < 0 || !weight_of(i, kind));
    for (int64_t i = 0; i < after.count; i++) {
        long double w = none ? 1 : (long double)weight_of(i, kind);
        total += w;
        most = w > most ? w : most;
    }
    for (int r = 0; r < after.ranks; r++)
        all += shares[r];
    for (int r = 0; r < after.ranks; r++) {
        for (int64_t i = after.starts[r]; i < after.starts[r + 1]; i++)
            so_far += none ? 1 : (long double)weight_of(i, kind);
        parts += shares[r];
        long double off = so_far - total * parts / all; /* of each cut, so that parts are off by twice that at most */
        REQUIRE(off <= most / 2 * 1.000001L + 1e-6L && -off <= most / 2 * 1.000001L + 1e-6L);
    }
}

static bool equal_cuts(epop_dist_t a, epop_dist_t b, int size)
{
    bool equal = a.count == b.count;
    for (int r = 0; r < size; r++)
        equal = equal && epop_dist_local_count(a, r, size) == epop_dist_local_count(b, r, size);
    return equal;
}

/* What the ranks would tell each other ahead of the window makes the same cuts. */
static void check_told(const epop_window_t *window, epop_dist_t before, const struct rows *w, epop_dist_t after)
{
    int64_t total = 0, totals[WORLD_MAX] = {0}, starts[WORLD_MAX + 1] = {0};
    bool old = window->old_rank >= 0;
    REQUIRE(!old || redist_balance_total(window, before, w->width, w->index, &total) == REDIST_FINE);
    MPI_Allgather(&total, 1, MPI_INT64_T, totals, 1, MPI_INT64_T, window->all);
    REQUIRE(!old || redist_balance_share(window, before, w->width, w->index, totals, starts) == REDIST_FINE);
    MPI_Allreduce(MPI_IN_PLACE, starts, window->new_size + 1, MPI_INT64_T, MPI_SUM, window->all);
    REQUIRE(!memcmp(starts, after.starts, ((size_t)window->new_size + 1) * sizeof *starts));
}

/* By weights, and the data then moves to the new owners. */
static void round_balance(const test_world *world, const test_type *type)
{
    const epop_window_t *window = &world->window;
    int64_t count = pick(2) ? pick(10) : pick(2000);
    int kind = (int)pick(5) - 1, width = kind == 3 || pick(2) ? 8 : 4;
    epop_dist_t real = pick(2) ? epop_dist_block(count) : random_cuts(count, window->old_size), after, before = {0};
    double shares[WORLD_MAX];
    bool even = pick(2);
    for (int r = 0; r < window->new_size; r++)
        shares[r] = even ? 1 : r == 0 || pick(4) ? 0.25 + (double)pick(8) : 0;
    if (window->old_rank >= 0)
        before = real;
    struct rows w = {.width = width};
    int64_t owned = epop_dist_local_count(before, window->old_rank, window->old_size);
    w.index = owned && kind >= 0 ? malloc((size_t)owned * 8) : NULL;
    for (int64_t i = 0; w.index && i < owned; i++)
        put_index(&w, i, weight_of(epop_dist_global(before, window->old_rank, window->old_size, i), kind));
    REQUIRE(epop_redist_balance(window, &before, width == 4 ? MPI_INT : MPI_INT64_T, w.index,
                                window->new_rank < 0 ? -1 : shares[window->new_rank], &after) == EPOP_OK);
    REQUIRE(after.kind == EPOP_DIST_CUTS && after.count == count && after.ranks == window->new_size);
    REQUIRE(equal_cuts(before, real, window->old_size));
    check_parts(after, kind, shares);
    if (even)
        check_told(window, before, &w, after);
    epop_dist2d_t old = {.rows = epop_dist_block(1), .cols = before, .grid_rows = 1, .grid_cols = window->old_size};
    epop_dist2d_t new = {.rows = epop_dist_block(1), .cols = after, .grid_rows = 1, .grid_cols = window->new_size};
    check_matrix(world, &old, &new, BETWEEN, type);
    if (window->old_rank < 0)
        epop_dist_free(&before);
    epop_dist_free(&after);
    free(w.index);
}

static void round_counts(const test_world *world)
{
    const epop_window_t *window = &world->window;
    int64_t count = pick(2) ? pick(10) : pick(INT64_MAX / 2);
    epop_dist_t old = random_cuts(count, window->old_size), new = random_cuts(count, window->new_size), before, after;
    int64_t had = window->old_rank < 0 ? -7 : epop_dist_local_count(old, window->old_rank, window->old_size);
    int64_t shall = window->new_rank < 0 ? -7 : epop_dist_local_count(new, window->new_rank, window->new_size);
    REQUIRE(epop_redist_counts(window, had, shall, &before, &after) == EPOP_OK);
    REQUIRE(equal_cuts(before, old, window->old_size) && equal_cuts(after, new, window->new_size));
    epop_dist_free(&before);
    epop_dist_free(&after);
    REQUIRE(after.count == 0 && epop_dist_local_count(after, 0, 1) == 0);
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
    /* Where errors return, blocks stay as they are until all is well. */
    MPI_Comm_set_errhandler(comm, pick(2) ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
    switch (pick(8)) {
    case 0:
        round_replicated(&world, type);
        break;
    case 1:
    case 5:
        round_rows(&world, types);
        break;
    case 3:
        round_balance(&world, type);
        break;
    case 4:
        round_counts(&world);
        break;
    case 2:
        round_1d(&world, type);
        break;
    default:
        round_2d(&world, type);
    }
}

int main(int argc, char **argv)
{
    struct rounds rounds;
    test_type types[TEST_TYPES];
    MPI_Init(&argc, &argv);
    rounds_begin(&rounds, "test_redist", 400, argc, argv);
    make_types(types);
    for (int round = 0; round < rounds.count; round++) {
        rounds_set(&rounds, round);
        int last = rounds_last(&rounds);
        if (rounds.rank <= last)
            play_round(rounds.firsts[last], types);
    }
    rounds_end(&rounds);
    free_types(types);
    MPI_Finalize();
    return 0;
}
