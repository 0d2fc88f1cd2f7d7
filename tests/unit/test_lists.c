/* Elements grouped by the rank that they go to: each is in one group, and in each group positions rise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/redist/plan.h"

enum { RANKS = 5 };

static int64_t position(const redist_lists *lists, int64_t index)
{
    const int64_t *at = lists->at[REDIST_BEFORE];
    return at ? at[index] : index;
}

static void check(const int *peers, int64_t count)
{
    redist_lists lists = {.starts = {NULL, NULL}};
    int64_t found = 0;
    assert_int_equal(redist_lists_group(&lists, REDIST_BEFORE, RANKS, peers, count), REDIST_FINE);
    const int64_t *starts = lists.starts[REDIST_BEFORE];
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[RANKS], count);
    for (int rank = 0; rank < RANKS; rank++)
        for (int64_t i = starts[rank]; i < starts[rank + 1]; i++, found++) {
            assert_int_equal(peers[position(&lists, i)], rank);
            assert_true(i == starts[rank] || position(&lists, i - 1) < position(&lists, i));
        }
    assert_int_equal(found, count);
    redist_lists_free(&lists);
    assert_null(lists.starts[REDIST_BEFORE]);
}

static void test_groups(void **state)
{
    int peers[200];
    (void)state;
    srand(1);
    for (int round = 0; round < 200; round++) {
        int64_t count = rand() % 200;
        for (int64_t i = 0; i < count; i++)
            peers[i] = rand() % (1 + round % RANKS);
        check(peers, count);
    }
}

/* What lies in order already needs no list of positions. */
static void test_in_order(void **state)
{
    const int rising[] = {0, 0, 2, 4, 4}, falling[] = {4, 0};
    redist_lists lists = {.starts = {NULL, NULL}};
    (void)state;
    assert_int_equal(redist_lists_group(&lists, REDIST_AFTER, RANKS, rising, 5), REDIST_FINE);
    assert_null(lists.at[REDIST_AFTER]);
    redist_lists_free(&lists);
    assert_int_equal(redist_lists_group(&lists, REDIST_AFTER, RANKS, falling, 2), REDIST_FINE);
    assert_non_null(lists.at[REDIST_AFTER]);
    redist_lists_free(&lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
