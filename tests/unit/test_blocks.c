/* The arithmetic of blocks: grids, parts, and walks over what two parts have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/redist/layout.h"

static void expect_grid(epop_blocks_t blocks, int size, int a, int b, int c)
{
    int grid[EPOP_BLOCKS_DIMS], wanted[] = {a, b, c};
    assert_int_equal(epop_blocks_grid(&blocks, size, grid), EPOP_OK);
    assert_memory_equal(grid, wanted, (size_t)blocks.dims * sizeof *grid);
}

static void test_grids(void **state)
{
    (void)state;
    expect_grid((epop_blocks_t){.dims = 3}, 1, 1, 1, 1);
    expect_grid((epop_blocks_t){.dims = 3}, 12, 3, 2, 2);
    expect_grid((epop_blocks_t){.dims = 3}, 16, 4, 2, 2);
    expect_grid((epop_blocks_t){.dims = 3}, 7, 7, 1, 1);
    expect_grid((epop_blocks_t){.dims = 2, .grid = {1, 0}}, 6, 1, 6, 0);
    expect_grid((epop_blocks_t){.dims = 3, .grid = {0, 2, 0}}, 12, 3, 2, 2);
    expect_grid((epop_blocks_t){.dims = 2, .grid = {4, 0}}, 7, 4, 1, 0); /* three ranks own nothing */
    expect_grid((epop_blocks_t){.dims = 2, .grid = {2, 3}}, 7, 2, 3, 0);
}

static void test_grids_that_are_none(void **state)
{
    (void)state;
    int grid[EPOP_BLOCKS_DIMS];
    const epop_blocks_t wrong[] = {{.dims = 0}, {.dims = 7}, {.dims = 2, .grid = {3, 3}}, {.dims = 1, .grid = {-1}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(epop_blocks_grid(&wrong[i], 8, grid), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_blocks_grid(NULL, 8, grid), EPOP_ERR_ARGUMENT);
    assert_int_equal(epop_blocks_grid(&(epop_blocks_t){.dims = 1}, 0, grid), EPOP_ERR_ARGUMENT);
}

static void expect_local(const epop_blocks_t *blocks, int rank, int size, int64_t first, int64_t count,
                         int64_t elements)
{
    int64_t firsts[EPOP_BLOCKS_DIMS], counts[EPOP_BLOCKS_DIMS];
    assert_int_equal(epop_blocks_local(blocks, rank, size, firsts, counts), EPOP_OK);
    assert_int_equal(firsts[0], first);
    assert_int_equal(counts[0], count);
    assert_int_equal(epop_blocks_elements(blocks, rank, size), elements);
}

static void test_parts(void **state)
{
    (void)state;
    const epop_blocks_t line = {.dims = 1, .count = {10}, .ghosts = {2}}, few = {.dims = 1, .count = {2}};
    expect_local(&line, 0, 3, 0, 4, 8);
    expect_local(&line, 2, 3, 7, 3, 7);
    expect_local(&line, -1, 3, 0, 0, 0);
    expect_local(&few, 1, 4, 1, 1, 1);
    expect_local(&few, 3, 4, 0, 0, 0);
    const epop_blocks_t flat = {.dims = 2, .count = {1, 100}, .ghosts = {1, 1}, .grid = {2, 1}};
    expect_local(&flat, 0, 2, 0, 1, 3 * 102);
    expect_local(&flat, 1, 2, 0, 0, 0); /* with indices in the second dimension, but none in the first */
    const epop_blocks_t large = {.dims = 3, .count = {1 << 20, 1 << 20, 1 << 20}, .ghosts = {1, 1, 1}, .grid = {2}};
    int64_t side = (1 << 20) + 2;
    expect_local(&large, 1, 2, 1 << 19, 1 << 19, ((1 << 19) + 2) * side * side);
    const epop_blocks_t too_large = {.dims = 2, .count = {INT64_MAX, 2}};
    assert_int_equal(epop_blocks_elements(&too_large, 0, 1), -1);
    const epop_blocks_t overflows = {.dims = 1, .count = {INT64_MAX}, .ghosts = {1}};
    assert_int_equal(epop_blocks_elements(&overflows, 0, 1), -1);
    int64_t first = 7, count = 7;
    const epop_blocks_t negative = {.dims = 1, .count = {-1}};
    assert_int_equal(epop_blocks_local(&negative, 0, 1, &first, &count), EPOP_ERR_ARGUMENT);
    assert_true(first == 0 && count == 0);
}

static void test_ghosts_that_do_not_fit(void **state)
{
    (void)state;
    const struct {
        int64_t count;
        int ghosts, periodic, size;
        redist_fault fault;
    } cases[] = {{10, 5, 0, 2, REDIST_FINE},          {10, 5, 0, 3, REDIST_THICK_GHOSTS}, {10, 50, 0, 1, REDIST_FINE},
                 {10, 11, 1, 1, REDIST_THICK_GHOSTS}, {10, 10, 1, 1, REDIST_FINE},        {3, 1, 1, 8, REDIST_FINE},
                 {3, 2, 1, 8, REDIST_THICK_GHOSTS},   {0, 2, 1, 8, REDIST_FINE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct redist_layout layout;
        const epop_blocks_t blocks = {
            .dims = 1, .count = {cases[i].count}, .ghosts = {cases[i].ghosts}, .periodic = {cases[i].periodic}};
        assert_int_equal(redist_layout_of_blocks(&layout, &blocks, cases[i].size), REDIST_FINE);
        assert_int_equal(redist_layout_ghosts(&layout), cases[i].fault);
    }
}

/* The places of a walk, one after the other. */
static int64_t places(struct redist_boxes boxes, int64_t most, redist_side side, int64_t *at)
{
    int64_t count = 0;
    redist_piece piece;
    while (redist_boxes_take(&boxes, most, &piece)) {
        assert_true(piece.length * piece.times <= most);
        for (int64_t i = 0; i < piece.times; i++)
            for (int64_t j = 0; j < piece.length; j++)
                at[count++] = redist_place_of(&piece, side, i, j);
    }
    return count;
}

/* However it is cut, a walk is the same, and is in row-major order. */
static void test_walks(void **state)
{
    (void)state;
    enum { CELLS = 9 * 6 * 7 };
    const epop_blocks_t blocks = {.dims = 3, .count = {7, 6, 5}, .ghosts = {1, 2, 1}, .periodic = {0, 1, 0}};
    struct redist_layout layout, plain;
    assert_int_equal(redist_layout_of_blocks(&layout, &blocks, 4), REDIST_FINE);
    redist_layout_plain(&plain, &layout, 5);
    int64_t all = 0, whole[CELLS], cut[CELLS], numbers[CELLS];
    for (int rank = 0; rank < 4; rank++) {
        for (int stretch = 0; stretch < 5; stretch++) {
            struct redist_part mine = redist_layout_part(&layout, rank), its = redist_layout_part(&plain, stretch);
            struct redist_boxes boxes = redist_boxes_start(3, layout.extent, &mine, &its);
            int64_t count = places(boxes, CELLS, REDIST_BEFORE, whole);
            assert_int_equal(count, boxes.left);
            for (int64_t most = 1; most < 20; most++) {
                assert_int_equal(places(boxes, most, REDIST_BEFORE, cut), count);
                assert_memory_equal(cut, whole, (size_t)count * sizeof *cut);
            }
            places(boxes, 5, REDIST_AFTER, numbers);
            for (int64_t i = 0; i < count; i++)
                assert_true(numbers[i] >= 0 && numbers[i] < its.elements && (i == 0 || numbers[i] > numbers[i - 1]));
            all += count;
        }
    }
    assert_int_equal(all, CELLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids), cmocka_unit_test(test_grids_that_are_none),
        cmocka_unit_test(test_parts), cmocka_unit_test(test_ghosts_that_do_not_fit),
        cmocka_unit_test(test_walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
