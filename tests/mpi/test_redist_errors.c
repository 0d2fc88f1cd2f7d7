/*
 * Errors are agreed: whatever is wrong, on one rank or on all, every rank returns the same error, says why in one
 * line, and has its data as it was; and the next redistribution works.
 */
#include <string.h>
#include <unistd.h>

#include "tests/mpi/redist_memory.h"
#include "tests/mpi/redist_world.h"

enum { COUNT = 3000 };

static test_world world;
static int bad_rank; /* who does it wrong */

static int is_bad(void)
{
    return world.rank == bad_rank;
}

/* ---- What the ranks of the window say on stderr ---- */

static int saved_stderr;
static FILE *said;

static void listen(void)
{
    fflush(stderr);
    said = tmpfile();
    saved_stderr = dup(STDERR_FILENO);
    REQUIRE(said && saved_stderr >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
}

/* One line with `text` on rank 0, nothing elsewhere. NULL: nothing at all. */
static void heard(const char *text)
{
    char line[512] = "", more[8];
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    rewind(said);
    int some = fgets(line, sizeof line, said) != NULL;
    if (!text || world.rank != 0) {
        REQUIRE(!some);
    } else {
        REQUIRE(some && strstr(line, text) && strncmp(line, "epop: ", 6) == 0 && line[strlen(line) - 1] == '\n');
        REQUIRE(!fgets(more, sizeof more, said));
    }
    fclose(said);
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

/* One rank after the other cannot have its new block, or its staging memory. */
static void test_out_of_memory(void)
{
    epop_dist_t good = epop_dist_block_cyclic(100 * COUNT, 7);
    int64_t owned = epop_dist_local_count(good, world.window.new_rank, world.window.new_size);
    for (int after = 0; after < 2 && MEMORY_COUNTED; after++) {
        int hits = is_bad() && after < (owned > 0) + 1;
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

/* A rank whose MPI fails in the middle still serves the others, and all give the new blocks up. */
static void test_mpi_failure(void)
{
    epop_dist_t good = epop_dist_cyclic(COUNT);
    double *block = old_block(good), data = 1;
    void *local = block;
    listen();
    sends_fail = is_bad();
    int result = epop_redist(&world.window, good, MPI_DOUBLE, &local);
    heard("an MPI function failed");
    REQUIRE(result == EPOP_ERR_MPI && local == block);
    check_block(block, good, world.window.old_rank, world.window.old_size);
    free(block);
    if (bad_rank == 0) {
        listen();
        result = epop_redist_replicated(&world.window, &data, 1, MPI_DOUBLE);
        heard("an MPI function failed");
        REQUIRE(result == EPOP_ERR_MPI);
    }
    sends_fail = 0;
}

/* ---- Rows ---- */

enum { ROWS = 40000 };

static void make_rows(epop_dist_t dist, int64_t **lengths, double **values)
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

static void rows_fail(int64_t bad_length, int missing, int allocations, int expected, const char *text)
{
    epop_dist_t dist = epop_dist_cyclic(ROWS);
    int64_t rows = epop_dist_local_count(dist, world.window.old_rank, world.window.old_size), *lengths;
    double *values;
    make_rows(dist, &lengths, &values);
    if (is_bad() && rows > 0)
        lengths[rows / 2] = bad_length;
    int64_t *old_lengths = lengths;
    void *local = values;
    listen();
    if (is_bad() && allocations >= 0)
        fail_from = 32 << 10, fail_after = allocations;
    int result = epop_redist_rows(&world.window, dist, is_bad() && missing ? NULL : &lengths, MPI_DOUBLE, &local);
    fail_from = 0;
    heard(text);
    REQUIRE(result == expected && lengths == old_lengths && local == values);
    for (int64_t i = 0; i < rows; i++) {
        REQUIRE(lengths[i] == (is_bad() && i == rows / 2 ? bad_length : 2));
        REQUIRE(values[2 * i] == (double)epop_dist_global(dist, world.window.old_rank, world.window.old_size, i));
    }
    free(lengths);
    free(values);
}

static void test_rows(void)
{
    if (bad_rank < world.window.old_size)
        rows_fail(-1, 0, -1, EPOP_ERR_ARGUMENT, "negative length");
    rows_fail(2, 1, -1, EPOP_ERR_ARGUMENT, "NULL");
    /* New lengths, staging, new values: the last one fails when the lengths have moved already. */
    for (int allocations = 0; allocations < 3 && MEMORY_COUNTED && world.new_ranks[bad_rank] >= 0; allocations++)
        rows_fail(2, 0, allocations, EPOP_ERR_MEMORY, "out of memory");
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
    REQUIRE(epop_redist_map(&world.window, epop_dist_block(-1), &moves, &count) == EPOP_ERR_ARGUMENT);
    REQUIRE(epop_redist_map(NULL, epop_dist_block(1), &moves, &count) == EPOP_ERR_ARGUMENT);
    REQUIRE(moves == NULL && count == -1);
    REQUIRE(epop_redist_map(&world.window, epop_dist_block(0), &moves, &count) == EPOP_OK && count == 0);
    free(moves);
}

int main(int argc, char **argv)
{
    int size, leaves[WORLD_MAX] = {0, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    REQUIRE(size >= 3 && size <= WORLD_MAX);
    make_world(&world, MPI_COMM_WORLD, size - 2, leaves); /* one of two leaves, two join: every block changes */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (bad_rank = 0; bad_rank < size; bad_rank++) {
        test_1d_arguments();
        test_types();
        test_2d_arguments();
        test_out_of_memory();
        if (bad_rank < world.window.old_size)
            test_mpi_failure();
        test_rows();
        test_replicated();
    }
    test_maps();
    if (world.rank == 0)
        printf("test_redist_errors: ok\n");
    MPI_Finalize();
    return 0;
}
