/*
 * The arithmetic of redistribution, compared with a look at every index for small counts, and with itself for
 * counts beyond 2^31 and 2^53.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/redist/dist.h"

enum { KINDS = 6, COUNTS = 9, SIZES = 6 };

static const int64_t counts[COUNTS] = {0, 1, 2, 5, 7, 12, 23, 48, 61};
static const int sizes[SIZES] = {1, 2, 3, 4, 6, 7};

static epop_dist_t dist_of(int kind, int64_t count)
{
    if (kind == 0)
        return epop_dist_block(count);
    if (kind == 1)
        return epop_dist_cyclic(count);
    static const int64_t blocks[] = {1, 2, 3, 100};
    return epop_dist_block_cyclic(count, blocks[kind - 2]);
}

/* The definitions, spelled out: who owns an index, as which local one. */
static int owner(epop_dist_t dist, int size, int64_t global, int64_t *local)
{
    int64_t seen[8] = {0};
    for (int64_t g = 0;; g++) {
        int rank = 0;
        if (dist.kind == EPOP_DIST_BLOCK) {
            int64_t end = 0;
            for (rank = -1; end <= g;)
                rank++, end += dist.count / size + (rank < dist.count % size);
        } else {
            rank = (int)(g / (dist.kind == EPOP_DIST_CYCLIC ? 1 : dist.block) % size);
        }
        if (g == global) {
            *local = seen[rank];
            return rank;
        }
        seen[rank]++;
    }
}

static void check_one_dist(epop_dist_t dist, int size)
{
    int64_t owned[8] = {0}, local, expected;
    for (int64_t g = 0; g < dist.count; g++) {
        int rank = epop_dist_owner(dist, size, g, &local);
        assert_int_equal(rank, owner(dist, size, g, &expected));
        assert_int_equal(local, expected);
        assert_int_equal(epop_dist_global(dist, rank, size, local), g);
        owned[rank]++;
    }
    for (int rank = 0; rank < size; rank++)
        assert_int_equal(epop_dist_local_count(dist, rank, size), owned[rank]);
    assert_int_equal(epop_dist_local_count(dist, -1, size), 0);
    assert_int_equal(epop_dist_local_count(dist, size, size), 0);
}

static void test_dists(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int c = 0; c < COUNTS; c++)
            for (int s = 0; s < SIZES; s++)
                check_one_dist(dist_of(kind, counts[c]), sizes[s]);
}

/* Every index that both own is met once, in rising order, with its local indices. */
static void check_meet(epop_dist_t before, int old, int olds, epop_dist_t after, int now, int nows)
{
    redist_meet meet = redist_meet_start(before, old, olds, after, now, nows);
    redist_run run;
    int64_t met = 0, expected = 0, last = -1;
    while (redist_meet_next(&meet, &run)) {
        assert_true(run.length > 0 && run.times > 0);
        for (int64_t t = 0; t < run.times; t++) {
            for (int64_t i = 0; i < run.length; i++) {
                int64_t global = epop_dist_global(before, old, olds, run.before + t * run.before_step + i);
                assert_int_equal(global, epop_dist_global(after, now, nows, run.after + t * run.after_step + i));
                assert_true(global > last);
                last = global;
                met++;
            }
        }
    }
    for (int64_t g = 0; g < before.count; g++)
        expected += epop_dist_owner(before, olds, g, NULL) == old && epop_dist_owner(after, nows, g, NULL) == now;
    assert_int_equal(met, expected);
    assert_int_equal(redist_meet_count(before, old, olds, after, now, nows), expected);
}

static void test_meets(void **state)
{
    (void)state;
    for (int c = 0; c < COUNTS; c++)
        for (int kinds = 0; kinds < KINDS * KINDS; kinds++)
            for (int s = 0; s < SIZES * SIZES; s++)
                for (int old = 0; old < sizes[s % SIZES]; old++)
                    for (int now = 0; now < sizes[s / SIZES]; now++)
                        check_meet(dist_of(kinds % KINDS, counts[c]), old, sizes[s % SIZES],
                                   dist_of(kinds / KINDS, counts[c]), now, sizes[s / SIZES]);
}

/* Row and column of a position in a local block, as a global index. */
static int64_t global_of(const epop_dist2d_t *dist, int rank, int64_t at)
{
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    assert_in_range(at, 0, rows * cols - 1);
    int64_t row = dist->column_major ? at % rows : at / cols, col = dist->column_major ? at / rows : at % cols;
    return epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, row) * dist->cols.count +
           epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, col);
}

static int64_t walk(const epop_dist2d_t *before, int old, const epop_dist2d_t *after, int now, int64_t most, char *seen)
{
    redist_cursor cursor = redist_cursor_start(before, old, after, now);
    redist_piece piece;
    int64_t walked = 0;
    while (redist_cursor_take(&cursor, most, &piece)) {
        assert_in_range(piece.length * piece.times, 1, most);
        for (int64_t i = 0; i < piece.length * piece.times; i++) {
            int64_t t = i / piece.length, l = i % piece.length, global[2];
            for (int side = 0; side < 2; side++) {
                const redist_place *place = &piece.on[side];
                int64_t at = place->at + (t ? t * place->step : 0) + (l ? l * place->unit : 0);
                global[side] = global_of(side ? after : before, side ? now : old, at);
            }
            assert_int_equal(global[0], global[1]);
            assert_int_equal(seen[global[0]]++, 0);
            walked++;
        }
    }
    assert_int_equal(cursor.left, 0);
    assert_int_equal(walked, cursor.total);
    return walked;
}

static epop_dist2d_t random_matrix(int64_t rows, int64_t cols, int size)
{
    epop_dist2d_t dist = {.rows = dist_of(rand() % KINDS, rows), .cols = dist_of(rand() % KINDS, cols)};
    dist.grid_rows = 1 + rand() % size;
    dist.grid_cols = 1 + rand() % (size / dist.grid_rows);
    dist.column_major = rand() % 2;
    return dist;
}

/* All pairs of ranks together walk over every element of a matrix once, in pieces of any size. */
static void test_cursors(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 3000; round++) {
        int64_t rows = rand() % 20, cols = rand() % 20, walked = 0;
        int olds = 1 + rand() % 7, nows = 1 + rand() % 7;
        epop_dist2d_t before = random_matrix(rows, cols, olds), after = random_matrix(rows, cols, nows);
        if (rand() % 3 == 0)
            after.column_major = before.column_major;
        char *seen = calloc(1, (size_t)(rows * cols + 1));
        assert_non_null(seen);
        for (int old = -1; old < olds; old++)
            for (int now = -1; now < nows; now++)
                walked += walk(&before, old, &after, now, 1 + rand() % 50, seen);
        assert_int_equal(walked, rows * cols);
        free(seen);
    }
}

static void check_large(epop_dist_t dist, int size)
{
    int64_t sum = 0, local;
    for (int rank = 0; rank < size; rank++) {
        int64_t count = epop_dist_local_count(dist, rank, size), near[] = {0, count / 2, count - 1};
        sum += count;
        for (int i = 0; i < 3 && count > 0; i++) {
            int64_t global = epop_dist_global(dist, rank, size, near[i]);
            assert_in_range(global, 0, dist.count - 1);
            assert_int_equal(epop_dist_owner(dist, size, global, &local), rank);
            assert_int_equal(local, near[i]);
        }
    }
    assert_int_equal(sum, dist.count);
}

/* What the new ranks get from one old rank adds up to what that one has. */
static void check_large_meets(epop_dist_t before, int olds, epop_dist_t after, int nows)
{
    for (int old = 0; old < olds; old++) {
        int64_t sum = 0;
        for (int now = 0; now < nows; now++)
            sum += redist_meet_count(before, old, olds, after, now, nows);
        assert_int_equal(sum, epop_dist_local_count(before, old, olds));
    }
}

static void test_large_counts(void **state)
{
    (void)state;
    static const int64_t large[] = {(1LL << 31) + 5, (1LL << 40) - 3, (1LL << 62) + 12345, INT64_MAX};
    for (int c = 0; c < 4; c++) {
        const epop_dist_t dists[] = {
            epop_dist_block(large[c]), epop_dist_cyclic(large[c]), epop_dist_block_cyclic(large[c], 48),
            epop_dist_block_cyclic(large[c], large[c] / 5), epop_dist_block_cyclic(large[c], INT64_MAX)};
        for (int d = 0; d < 5; d++) {
            for (int size = 1; size < 12; size++)
                check_large(dists[d], size);
            check_large_meets(dists[d], 6, dists[d], 10);
            check_large_meets(dists[d], 7, dists[0], 3);
            check_large_meets(dists[d], 7, dists[3], 3);
        }
        check_large_meets(dists[1], 12, dists[2], 9);
    }
}

/* A run of 2^31 and more elements, and its pieces. */
static void test_large_cursor(void **state)
{
    (void)state;
    epop_dist2d_t before = {.rows = epop_dist_block(3LL << 31), .cols = epop_dist_block(7), .grid_rows = 2};
    before.grid_cols = 1;
    epop_dist2d_t after = before;
    after.grid_rows = 3;
    redist_cursor cursor = redist_cursor_start(&before, 1, &after, 1);
    assert_int_equal(cursor.total, 7LL << 30);
    assert_true(redist_cursor_is_one_run(&cursor));
    redist_piece piece;
    assert_true(redist_cursor_take(&cursor, 1 << 30, &piece));
    assert_true(redist_cursor_take(&cursor, INT64_MAX, &piece));
    assert_int_equal(piece.length, (7LL << 30) - (1 << 30));
    assert_int_equal(piece.on[REDIST_BEFORE].at, 1 << 30);
    assert_int_equal(piece.on[REDIST_AFTER].at, (7LL << 30) + (1 << 30));
    assert_false(redist_cursor_take(&cursor, 1, &piece));
}

static int64_t count_pieces(int64_t rows)
{
    epop_dist2d_t before = {.rows = epop_dist_block_cyclic(rows, 64), .cols = epop_dist_block(1000), .grid_rows = 1};
    before.grid_cols = before.column_major = 1;
    epop_dist2d_t after = before;
    after.grid_rows = 2;
    redist_cursor cursor = redist_cursor_start(&before, 0, &after, 1);
    redist_piece piece;
    int64_t count = 0;
    while (redist_cursor_take(&cursor, INT64_MAX, &piece))
        count++;
    return count;
}

/* Columns whose runs go on at the same distance in the next one are no pieces of their own. */
static void test_even_lines(void **state)
{
    (void)state;
    assert_int_equal(count_pieces(1024), 1);
    assert_int_equal(count_pieces(1025), 1000);
}

static void test_grids(void **state)
{
    (void)state;
    static const int expected[][3] = {{1, 1, 1}, {2, 2, 1}, {6, 3, 2}, {7, 7, 1}, {12, 4, 3}, {16, 4, 4}, {60, 10, 6}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        int rows, cols;
        epop_grid_near_square(expected[i][0], &rows, &cols);
        assert_int_equal(rows, expected[i][1]);
        assert_int_equal(cols, expected[i][2]);
    }
}

static void test_map_print(void **state)
{
    (void)state;
    const epop_redist_move_t moves[] = {{0, 0, 5}, {0, 1, 1LL << 40}};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    epop_redist_map_print(stream, moves, 2);
    fclose(stream);
    assert_string_equal(text, "from\tto\telements\n0\t0\t5\n0\t1\t1099511627776\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dists),        cmocka_unit_test(test_meets),        cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_large_counts), cmocka_unit_test(test_large_cursor), cmocka_unit_test(test_even_lines),
        cmocka_unit_test(test_grids),        cmocka_unit_test(test_map_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
