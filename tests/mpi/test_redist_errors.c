/*
 * Errors are agreed: whatever is wrong, on one rank or on all, every rank returns the same error, says why in one
 * line, and has its data as it was; and the next redistribution works.
 */
#include <stdbool.h>

#include <epop/blocks.h>

#include "runtime/redist/move.h"
#include "tests/mpi/redist_memory.h"
#include "tests/mpi/redist_world.h"

#include "tests/mpi/heard.h"

enum { COUNT = 3000 };

static test_world world;
static int bad_rank; /* who does it wrong */

static int is_bad(void)
{
    return world.rank == bad_rank;
}

static void heard(const char *text)
{
    heard_on(world.rank, text);
}

/* ---- A block, and that it is untouched ---- */

static double *old_block(epop_dist_t dist)
{
    int64_t count = epop_dist_local_count(dist, world.window.old_rank, world.window.old_size);
    double *block = count ? malloc((size_t)count * sizeof *block) : NULL;
    for (int64_t i = 0; i < count; i++)
        block[i] = (double)epop_dist_global(dist, world.window.old_rank, world.window.old_size, i);
    return block;
}

static void check_block(const double *block, epop_dist_t dist, int rank, int size)
{
    int64_t count = epop_dist_local_count(dist, rank, size);
    REQUIRE((block != NULL) == (count > 0));
    for (int64_t i = 0; i < count; i++)
        REQUIRE(block[i] == (double)epop_dist_global(dist, rank, size, i));
}

/* The redistribution of `asked`, of data that is dealt out as `real`, fails as expected; the real one then works. */
static void fails(epop_dist_t real, epop_dist_t asked, MPI_Datatype type, int take_block, int expected,
                  const char *text)
{
    double *block = old_block(real);
    void *local = take_block ? NULL : block;
    listen();
    int result = epop_redist(&world.window, asked, type, &local);
    heard(text);
    REQUIRE(result == expected);
    REQUIRE(local == (take_block ? NULL : block));
    check_block(block, real, world.window.old_rank, world.window.old_size);
    fail_from = 0;
    local = block;
    REQUIRE(epop_redist(&world.window, real, MPI_DOUBLE, &local) == EPOP_OK);
    check_block(local, real, world.window.new_rank, world.window.new_size);
    free(local);
}

static void test_1d_arguments(void)
{
    epop_dist_t good = epop_dist_block(COUNT), bad;
    bad = epop_dist_block(is_bad() ? 0 : COUNT);
    fails(good, bad, MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "the count is 0 on one rank and 3000 on another");
    bad = is_bad() ? epop_dist_cyclic(COUNT) : good;
    fails(good, bad, MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "the kind of distribution");
    fails(good, good, is_bad() ? MPI_FLOAT : MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "the size of the datatype");
    fails(good, epop_dist_block(-1), MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "negative count");
    fails(good, epop_dist_block_cyclic(COUNT, 0), MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "block below 1");
    fails(good, (epop_dist_t){.kind = (epop_dist_kind)7, .count = COUNT}, MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "kind");
    fails(good, epop_dist_block(INT64_MIN), MPI_DOUBLE, 0, EPOP_ERR_ARGUMENT, "negative count");
    int owns = is_bad() && epop_dist_local_count(good, world.window.old_rank, world.window.old_size) > 0;
    if (bad_rank < world.window.old_size)
        fails(good, good, MPI_DOUBLE, owns, EPOP_ERR_ARGUMENT, "NULL on a rank that owns some");
}

static void test_types(void)
{
    epop_dist_t good = epop_dist_block(COUNT);
    int length = 1, at = -1;
    MPI_Datatype before_address, no_extent;
    MPI_Type_indexed(1, &length, &at, MPI_DOUBLE, &before_address);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 0, &no_extent);
    MPI_Type_commit(&before_address);
    MPI_Type_commit(&no_extent);
    fails(good, good, before_address, 0, EPOP_ERR_ARGUMENT, "in front of its address");
    fails(good, good, no_extent, 0, EPOP_ERR_ARGUMENT, "no extent");
    fails(good, good, MPI_DATATYPE_NULL, 0, EPOP_ERR_ARGUMENT, "datatype");
    MPI_Type_free(&before_address);
    MPI_Type_free(&no_extent);
}

static void matrix_fails(const epop_dist2d_t *before, const epop_dist2d_t *after, const char *text)
{
    double dummy, *block = &dummy;
    void *local = block;
    listen();
    int result = epop_redist2d(&world.window, before, after, MPI_DOUBLE, &local);
    heard(text);
    REQUIRE(result == EPOP_ERR_ARGUMENT && local == block);
}

static void test_2d_arguments(void)
{
    int olds = world.window.old_size, nows = world.window.new_size;
    epop_dist2d_t before = {.rows = epop_dist_block(10), .cols = epop_dist_block(20), .grid_rows = 1};
    before.grid_cols = olds;
    epop_dist2d_t after = before, bad = before;
    after.grid_cols = nows;
    bad.grid_cols = olds + 1;
    matrix_fails(&bad, &after, "grid");
    bad.grid_cols = 0;
    matrix_fails(&bad, &after, "grid");
    bad = after;
    bad.grid_rows = 1 << 30;
    matrix_fails(&before, &bad, "grid");
    bad = after;
    bad.rows.count = 11;
    matrix_fails(&before, &bad, "after than before");
    bad = after;
    bad.column_major = is_bad();
    matrix_fails(&before, &bad, "the storage order");
    matrix_fails(is_bad() ? NULL : &before, &after, "the");
    bad = before;
    bad.rows.count = bad.cols.count = INT64_MAX / 2;
    after.rows.count = after.cols.count = INT64_MAX / 2;
    matrix_fails(&bad, &after, "2^63");
}

/* A block that only loses elements is not made anew. */
static bool shrinks(epop_dist_t dist)
{
    int64_t count = epop_dist_local_count(dist, world.window.new_rank, world.window.new_size);
    for (int64_t i = 0; i < count; i++) {
        int64_t global = epop_dist_global(dist, world.window.new_rank, world.window.new_size, i);
        if (epop_dist_owner(dist, world.window.old_size, global, NULL) != world.window.old_rank)
            return false;
    }
    return true;
}

/* One rank after the other cannot have its new block, or its staging memory. */
static void test_out_of_memory(void)
{
    epop_dist_t good = epop_dist_block_cyclic(100 * COUNT, 7);
    for (int after = 0; after < 2 && MEMORY_COUNTED; after++) {
        int hits = is_bad() && after < 2 - shrinks(good);
        double *block = old_block(good);
        void *local = block;
        listen();
        if (hits)
            fail_from = 64 << 10, fail_after = after;
        int result = epop_redist(&world.window, good, MPI_DOUBLE, &local), any;
        fail_from = 0;
        MPI_Allreduce(&hits, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        heard(any ? "out of memory" : NULL);
        REQUIRE(result == (any ? EPOP_ERR_MEMORY : EPOP_OK));
        if (any)
            REQUIRE(local == block);
        else
            block = NULL;
        if (block)
            check_block(block, good, world.window.old_rank, world.window.old_size);
        free(local);
    }
}

/* Of two arrays that are agreed on together one rank cannot have the second: the first stays, too. */
static void test_together(void)
{
    const char *const subjects[] = {"first", "second"};
    epop_dist_t good = epop_dist_block_cyclic(100 * COUNT, 7);
    double *blocks[] = {old_block(good), old_block(good)};
    void *locals[] = {blocks[0], blocks[1]};
    int hits = MEMORY_COUNTED && is_bad() && !shrinks(good), any;
    MPI_Allreduce(&hits, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    listen();
    redist_moves_begin("both");
    for (int i = 0; i < 2; i++) {
        redist_subject = subjects[i];
        if (hits && i == 1)
            fail_from = 64 << 10, fail_after = 0;
        REQUIRE(epop_redist(&world.window, good, MPI_DOUBLE, &locals[i]) == EPOP_OK);
        REQUIRE(locals[i] == blocks[i]);
        fail_from = 0;
    }
    redist_subject = NULL;
    REQUIRE(redist_moves_end(&world.window) == (any ? EPOP_ERR_MEMORY : EPOP_OK));
    heard(any ? "both: described 'second': out of memory" : NULL);
    for (int i = 0; i < 2; i++) {
        REQUIRE(!any || locals[i] == blocks[i]);
        if (any)
            check_block(locals[i], good, world.window.old_rank, world.window.old_size);
        else
            check_block(locals[i], good, world.window.new_rank, world.window.new_size);
        free(locals[i]);
    }
}

/* A rank whose MPI fails in the middle still serves the others, and all give the new blocks up. A block that was
 * extended may be elsewhere. */
static void mpi_failure(epop_dist_t good)
{
    double *block = old_block(good), data = 1;
    void *local = block;
    listen();
    sends_fail = is_bad();
    int result = epop_redist(&world.window, good, MPI_DOUBLE, &local);
    heard("an MPI function failed");
    REQUIRE(result == EPOP_ERR_MPI);
    check_block(local, good, world.window.old_rank, world.window.old_size);
    free(local);
    if (bad_rank == 0) {
        listen();
        result = epop_redist_replicated(&world.window, &data, 1, MPI_DOUBLE);
        heard("an MPI function failed");
        REQUIRE(result == EPOP_ERR_MPI);
    }
    sends_fail = 0;
}

static void test_mpi_failure(void)
{
    mpi_failure(epop_dist_cyclic(COUNT));
    redist_extended_bytes = 1;
    mpi_failure(epop_dist_block(100 * COUNT));
}

/* ---- Rows ---- */

enum { ROWS = 80000 };

static void make_rows(epop_dist_t dist, int **lengths, double **values)
{
    int64_t rows = epop_dist_local_count(dist, world.window.old_rank, world.window.old_size);
    *lengths = rows ? malloc((size_t)rows * sizeof **lengths) : NULL;
    *values = rows ? malloc((size_t)rows * 2 * sizeof **values) : NULL;
    for (int64_t i = 0; i < rows; i++) {
        (*lengths)[i] = 2;
        (*values)[2 * i] = (*values)[2 * i + 1] =
            (double)epop_dist_global(dist, world.window.old_rank, world.window.old_size, i);
    }
}

static void rows_fail(int bad_length, int missing, int allocations, int expected, const char *text)
{
    epop_dist_t dist = epop_dist_cyclic(ROWS);
    int64_t rows = epop_dist_local_count(dist, world.window.old_rank, world.window.old_size);
    int *lengths;
    double *values, *more;
    make_rows(dist, &lengths, &values);
    free(lengths);
    make_rows(dist, &lengths, &more);
    if (is_bad() && rows > 0)
        lengths[rows / 2] = bad_length;
    void *local = values, *second = more, *index = lengths;
    const epop_row_array_t arrays[] = {{MPI_DOUBLE, &local}, {MPI_DOUBLE, is_bad() && missing == 2 ? NULL : &second}};
    listen();
    if (is_bad() && allocations >= 0)
        fail_from = 32 << 10, fail_after = allocations;
    int result =
        epop_redist_rows(&world.window, dist, dist, MPI_INT, is_bad() && missing == 1 ? NULL : &index, arrays, 2);
    fail_from = 0;
    heard(text);
    REQUIRE(result == expected && index == lengths && local == values && second == more);
    for (int64_t i = 0; i < rows; i++) {
        REQUIRE(lengths[i] == (is_bad() && i == rows / 2 ? bad_length : 2));
        REQUIRE(values[2 * i] == (double)epop_dist_global(dist, world.window.old_rank, world.window.old_size, i));
        REQUIRE(more[2 * i + 1] == values[2 * i]);
    }
    free(lengths);
    free(values);
    free(more);
}

/* Of a rank's row starts one entry is wrong, or all elements would come to one rank. */
static void starts_fail(int64_t first, int64_t second, int64_t each, const char *text)
{
    enum { FEW = 40 };
    int64_t cuts[WORLD_MAX + 1] = {0};
    epop_dist_t dist = epop_dist_block(FEW), all_to_last;
    int64_t rows = epop_dist_local_count(dist, world.window.old_rank, world.window.old_size);
    int64_t *starts = malloc((FEW + 1) * sizeof *starts);
    char nothing;
    void *index = starts, *local = &nothing;
    MPI_Datatype empty; /* so that there can be many of them */
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_commit(&empty);
    const epop_row_array_t arrays[] = {{empty, &local}};
    cuts[world.window.new_size] = FEW;
    all_to_last = epop_dist_cuts(cuts, world.window.new_size);
    for (int64_t i = 0; i <= rows; i++)
        starts[i] = i * each;
    if (is_bad() && rows > 0)
        starts[0] += first, starts[1] += second;
    int32_t *narrow = malloc((FEW + 1) * sizeof *narrow);
    for (int64_t i = 0; i <= rows; i++)
        narrow[i] = (int32_t)starts[i];
    void *narrow_index = narrow;
    listen();
    int result = epop_redist_csr(&world.window, dist, all_to_last, MPI_INT, &narrow_index, arrays, 1);
    heard(text);
    REQUIRE(result == EPOP_ERR_ARGUMENT && narrow_index == narrow && local == &nothing);
    if (each > 2) { /* the same is well with the other type */
        REQUIRE(epop_redist_csr(&world.window, dist, all_to_last, MPI_INT64_T, &index, NULL, 0) == EPOP_OK);
        if (world.window.new_rank == world.window.new_size - 1)
            REQUIRE(((int64_t *)index)[FEW] == FEW * each);
        starts = index;
    }
    free(starts);
    free(narrow);
    MPI_Type_free(&empty);
}

/* Everything but the data is fine. */
static void rows_call_fails(MPI_Datatype type, int count, int null_arrays, const char *text)
{
    double dummy;
    void *local = &dummy, *index = &dummy;
    const epop_row_array_t arrays[] = {{MPI_DOUBLE, &local}, {MPI_INT, &local}};
    listen();
    int result = epop_redist_rows(&world.window, epop_dist_block(0), epop_dist_block(0), type, &index,
                                  null_arrays ? NULL : arrays, count);
    heard(text);
    REQUIRE(result == EPOP_ERR_ARGUMENT && local == &dummy && index == &dummy);
}

static void test_rows(void)
{
    int old = bad_rank < world.window.old_size;
    if (old) {
        rows_fail(-1, 0, -1, EPOP_ERR_ARGUMENT, "negative length");
        starts_fail(1, 0, 2, "do not begin with 0, or fall");
        starts_fail(0, 3, 2, "do not begin with 0, or fall");
        starts_fail(0, -3, 2, "do not begin with 0, or fall");
    }
    if (world.window.old_size > 1) /* each can say what it has */
        starts_fail(0, 0, 1 << 26, "more than 2^31 - 1 elements");
    rows_fail(2, 1, -1, EPOP_ERR_ARGUMENT, "NULL");
    rows_fail(2, 2, -1, EPOP_ERR_ARGUMENT, "NULL");
    rows_call_fails(MPI_DOUBLE, 1, 0, "lengths, starts and weights are of MPI_INT");
    rows_call_fails(MPI_UNSIGNED, 1, 0, "lengths, starts and weights are of MPI_INT");
    rows_call_fails(is_bad() ? MPI_INT : MPI_INT64_T, 1, 0, "the size of a length or start is 4 on one rank and 8");
    rows_call_fails(MPI_INT, -1, 0, "the number of arrays is negative");
    rows_call_fails(MPI_INT, 1, 1, "the number of arrays is negative");
    rows_call_fails(MPI_INT, is_bad() ? 2 : 1, 0, "the number of arrays is 1 on one rank and 2 on another");
    /* The lengths before and after, the new lengths, staging, two new blocks: those when the lengths have moved
     * already. */
    for (int allocations = 0; allocations < 5 + old && MEMORY_COUNTED && world.new_ranks[bad_rank] >= 0; allocations++)
        rows_fail(2, 0, allocations, EPOP_ERR_MEMORY, "out of memory");
}

/* ---- Blocks ---- */

static void blocks_fail(const epop_blocks_t *before, const epop_blocks_t *after, MPI_Datatype type, int expected,
                        const char *text)
{
    double dummy, *local = &dummy;
    listen();
    int result = epop_redist_blocks(&world.window, before, after, type, &local);
    heard(text);
    REQUIRE(result == expected && local == &dummy);
}

static void test_blocks(void)
{
    const epop_blocks_t good = {.dims = 2, .count = {10, 20}, .ghosts = {1, 1}};
    epop_blocks_t bad = good;
    bad.count[1] = is_bad() ? 21 : 20;
    blocks_fail(&bad, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "the count of a dimension is 20 on one rank and 21");
    bad = good;
    bad.periodic[0] = is_bad();
    blocks_fail(&bad, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "the periodicity of a dimension");
    bad.periodic[0] = 1;
    blocks_fail(&bad, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "differ before and after");
    bad = good;
    bad.ghosts[1] = 0;
    blocks_fail(&bad, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "differ before and after");
    bad = good;
    bad.dims = 7;
    blocks_fail(&bad, &bad, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "blocks have 1 to 6 dimensions");
    blocks_fail(is_bad() ? NULL : &good, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "the number of dimensions");
    bad = good;
    bad.grid[0] = world.size + 1;
    blocks_fail(&bad, &good, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "grid");
    bad = good;
    bad.ghosts[0] = bad.ghosts[1] = 11;
    if (world.window.new_size > 1)
        blocks_fail(&bad, &bad, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "more ghost layers than the block of a neighbour");
    bad = good;
    bad.count[0] = bad.count[1] = INT64_MAX / 2;
    blocks_fail(&bad, &bad, MPI_DOUBLE, EPOP_ERR_ARGUMENT, "2^63");
    blocks_fail(&good, &good, is_bad() ? MPI_FLOAT : MPI_DOUBLE, EPOP_ERR_ARGUMENT, "the size of the datatype");
}

/* One rank after the other lacks the memory for its new array. */
static void test_blocks_memory(void)
{
    const epop_blocks_t blocks = {.dims = 2, .count = {200, 500}, .ghosts = {1, 1}, .grid = {0, 1}};
    const epop_window_t *window = &world.window;
    int64_t first[2], count[2], elements = epop_blocks_elements(&blocks, window->old_rank, window->old_size);
    REQUIRE(epop_blocks_local(&blocks, window->old_rank, window->old_size, first, count) == EPOP_OK);
    double *array = elements ? malloc((size_t)elements * sizeof *array) : NULL, *kept = array;
    for (int64_t i = 0; i < elements; i++)
        array[i] = (double)(first[0] * 502 + i); /* whole rows, the boundary included */
    int hits = is_bad() && MEMORY_COUNTED && window->new_rank >= 0, any;
    MPI_Allreduce(&hits, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    listen();
    fail_from = hits ? 64 << 10 : 0;
    fail_after = 0;
    int result = epop_redist_blocks(window, &blocks, &blocks, MPI_DOUBLE, &array);
    fail_from = 0;
    heard(any ? "out of memory" : NULL);
    REQUIRE(result == (any ? EPOP_ERR_MEMORY : EPOP_OK) && (!any || array == kept));
    if (any)
        REQUIRE(epop_redist_blocks(window, &blocks, &blocks, MPI_DOUBLE, &array) == EPOP_OK);
    elements = epop_blocks_elements(&blocks, window->new_rank, window->new_size);
    epop_blocks_local(&blocks, window->new_rank, window->new_size, first, count);
    for (int64_t i = 0; i < elements; i++)
        REQUIRE(array[i] == (double)(first[0] * 502 + i));
    free(array);
}

/* Outside of windows, in the whole world. */
static void test_halo(void)
{
    epop_blocks_t blocks = {.dims = 1, .count = {20}, .ghosts = {21}, .periodic = {1}};
    epop_halo_t *halo = NULL;
    double array[100];
    listen();
    int result = epop_halo_exchange(&blocks, MPI_DOUBLE, array);
    heard("more ghost layers than the block of a neighbour");
    REQUIRE(result == EPOP_ERR_ARGUMENT);
    blocks.ghosts[0] = 1;
    listen();
    result = epop_halo_start(&blocks, MPI_DATATYPE_NULL, array, &halo);
    heard("the datatype has no extent");
    REQUIRE(result == EPOP_ERR_ARGUMENT && !halo && epop_halo_finish(&halo) == EPOP_OK);
}

/* ---- Cuts ---- */

static void cuts_fail(epop_dist_t before, epop_dist_t after, const char *text)
{
    double dummy;
    void *local = &dummy;
    listen();
    int result = epop_redist_between(&world.window, before, after, MPI_DOUBLE, &local);
    heard(text);
    REQUIRE(result == EPOP_ERR_ARGUMENT && local == &dummy);
}

static void test_cuts(void)
{
    int64_t good[WORLD_MAX + 1], bad[WORLD_MAX + 1];
    int olds = world.window.old_size;
    for (int r = 0; r <= WORLD_MAX; r++)
        good[r] = bad[r] = r * 5;
    epop_dist_t block = epop_dist_block(olds * 5), cuts = epop_dist_cuts(good, olds);
    cuts_fail(block, epop_dist_cuts(good, world.window.new_size + 1), "is for another number of ranks");
    cuts_fail(cuts, epop_dist_block(olds * 5 + 1), "after than before");
    bad[1] = is_bad() ? 4 : 5;
    cuts_fail(epop_dist_cuts(bad, olds), block, olds > 1 ? "the checksum of the cuts" : "the count");
    bad[1] = olds * 5 + 1;
    cuts_fail(epop_dist_cuts(bad, olds), block, "does not rise");
    bad[0] = bad[1] = 1;
    cuts_fail(epop_dist_cuts(bad, olds), block, "does not rise");
    cuts_fail(epop_dist_cuts(NULL, olds), epop_dist_block(0), "does not rise");
    cuts_fail(epop_dist_cuts(good, 0), epop_dist_block(0), "another number of ranks");
}

static void balance_fails(epop_dist_t *before, MPI_Datatype type, const void *weights, double share, int takes_after,
                          const char *text)
{
    epop_dist_t after = {.count = -3}, was = before ? *before : after;
    listen();
    int result = epop_redist_balance(&world.window, before, type, weights, share, takes_after ? NULL : &after);
    heard(text);
    REQUIRE(result == EPOP_ERR_ARGUMENT && after.count == -3);
    REQUIRE(!before || memcmp(before, &was, sizeof was) == 0);
}

static void test_balance(void)
{
    enum { EACH = 100 };
    int old = bad_rank < world.window.old_size, stays = world.new_ranks[bad_rank] >= 0;
    int weights[EACH];
    int64_t large[EACH];
    for (int i = 0; i < EACH; i++)
        weights[i] = i, large[i] = INT64_MAX / 60 / world.window.old_size;
    epop_dist_t before = epop_dist_block(EACH * world.window.old_size), bad = before;
    balance_fails(is_bad() ? NULL : &before, MPI_INT, weights, 1, 0, "");
    balance_fails(&before, MPI_INT, weights, 1, is_bad(), "a pointer is NULL");
    balance_fails(&before, MPI_FLOAT, weights, 1, 0, "lengths, starts and weights are of MPI_INT");
    balance_fails(&before, MPI_INT, weights, 0, 0, "all shares are 0");
    balance_fails(&before, MPI_INT64_T, large, 1, 0, "their sum is above 2^63 - 1");
    if (stays) {
        balance_fails(&before, MPI_INT, weights, is_bad() ? -1 : 1, 0, "a share is negative");
        balance_fails(&before, MPI_INT, weights, is_bad() ? strtod("nan", NULL) : 1, 0,
                      "a share is negative or no number");
    }
    bad = epop_dist_cyclic(bad.count);
    balance_fails(&bad, MPI_INT, weights, 1, 0, "only indices that are dealt out in blocks");
    if (!old)
        return;
    bad = epop_dist_block(is_bad() ? 1 : before.count);
    balance_fails(&bad, MPI_INT, weights, 1, 0, "the count is 1 on one rank");
    if (world.window.old_size > 1)
        balance_fails(&before, MPI_INT, is_bad() ? NULL : weights, 1, 0, "the weights are NULL on some");
    weights[EACH / 2] = is_bad() ? -1 : 0;
    balance_fails(&before, MPI_INT, weights, 1, 0, "a weight is negative");
}

static void test_counts(void)
{
    epop_dist_t before = {.count = -3}, after = {.count = -4};
    int stays = world.new_ranks[bad_rank] >= 0;
    const struct {
        int64_t had, shall;
        int applies;
        const char *text;
    } wrong[] = {{-1, 1, bad_rank < world.window.old_size, "negative count"},
                 {1, -1, stays, "negative count"},
                 {1, 1000, stays, "after than before"},
                 {INT64_MAX, 1, world.window.old_size > 1 && bad_rank < world.window.old_size, "2^63"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (!wrong[i].applies)
            continue;
        listen();
        int result = epop_redist_counts(&world.window, is_bad() ? wrong[i].had : 1, is_bad() ? wrong[i].shall : 1,
                                        &before, &after);
        heard(wrong[i].text);
        REQUIRE(result == EPOP_ERR_ARGUMENT && before.count == -3 && after.count == -4);
    }
    listen();
    REQUIRE(epop_redist_counts(&world.window, 1, 1, is_bad() ? NULL : &before, &after) == EPOP_ERR_ARGUMENT);
    heard("a pointer is NULL");
}

/* ---- Replicated data, maps, windows ---- */

static void test_replicated(void)
{
    double data[10] = {0};
    int holds = world.new_ranks[bad_rank] >= 0;
    listen();
    int result = epop_redist_replicated(&world.window, data, is_bad() ? 9 : 10, MPI_DOUBLE);
    heard("the count is 9 on one rank and 10 on another");
    REQUIRE(result == EPOP_ERR_ARGUMENT);
    listen();
    result = epop_redist_replicated(&world.window, is_bad() ? NULL : data, 10, MPI_DOUBLE);
    heard(holds ? "NULL" : NULL);
    REQUIRE(result == (holds ? EPOP_ERR_ARGUMENT : EPOP_OK));
    listen();
    result = epop_redist_replicated(&world.window, data, -1, MPI_DOUBLE);
    heard("negative count");
    REQUIRE(result == EPOP_ERR_ARGUMENT);
    REQUIRE(epop_redist_replicated(NULL, data, 1, MPI_DOUBLE) == EPOP_ERR_ARGUMENT);
}

static void test_maps(void)
{
    epop_redist_move_t *moves = NULL;
    int count = -1;
    REQUIRE(epop_redist_map(&world.window, epop_dist_block(-1), epop_dist_block(-1), &moves, &count) ==
            EPOP_ERR_ARGUMENT);
    REQUIRE(epop_redist_map(NULL, epop_dist_block(1), epop_dist_block(1), &moves, &count) == EPOP_ERR_ARGUMENT);
    REQUIRE(moves == NULL && count == -1);
    REQUIRE(epop_redist_map(&world.window, epop_dist_block(0), epop_dist_block(0), &moves, &count) == EPOP_OK);
    REQUIRE(count == 0);
    free(moves);
}

int main(int argc, char **argv)
{
    int size, leaves[WORLD_MAX] = {0, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size >= 4 && size <= WORLD_MAX); /* two old ranks at least: one is right while the other is wrong */
    make_world(&world, MPI_COMM_WORLD, size - 2, leaves); /* one of two leaves, two join: every block changes */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (bad_rank = 0; bad_rank < size; bad_rank++) {
        test_1d_arguments();
        test_types();
        test_2d_arguments();
        test_out_of_memory();
        test_together();
        if (bad_rank < world.window.old_size)
            test_mpi_failure();
        test_rows();
        test_cuts();
        test_balance();
        test_counts();
        test_blocks();
        test_blocks_memory();
        test_replicated();
    }
    test_maps();
    test_halo();
    if (world.rank == 0)
        printf("test_redist_errors: ok\n");
    MPI_Finalize();
    return 0;
}
