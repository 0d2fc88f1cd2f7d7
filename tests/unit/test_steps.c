/* Sums over time: intervals in any order, changes at one time, and means over equal spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/steps.h"

static void expect(const struct steps *steps, const struct step *expected, size_t count)
{
    assert_int_equal(steps->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_float_equal(steps->items[i].time, expected[i].time, 1e-9);
        assert_float_equal(steps->items[i].jobs, expected[i].jobs, 1e-9);
        assert_float_equal(steps->items[i].nodes, expected[i].nodes, 1e-9);
    }
}

static void test_intervals_in_any_order(void **state)
{
    struct steps steps = {0};
    steps_add(&steps, 10, 20, 4);
    steps_add(&steps, 0, 15, 2);
    steps_add(&steps, 7, 7, 100);
    steps_sum(&steps);
    expect(&steps, (struct step[]){{0, 1, 2}, {10, 2, 6}, {15, 1, 4}, {20, 0, 0}}, 4);
    assert_float_equal(steps.most_jobs, 2, 0);
    assert_float_equal(steps.most_nodes, 6, 0);
    steps_free(&steps);
    (void)state;
}

static void test_what_ends_when_another_begins_is_one_step(void **state)
{
    struct steps steps = {0};
    steps_add(&steps, 0, 5, 4);
    steps_add(&steps, 5, 8, 6);
    steps_add(&steps, 8, 9, 6);
    steps_sum(&steps);
    expect(&steps, (struct step[]){{0, 1, 4}, {5, 1, 6}, {9, 0, 0}}, 3);
    assert_float_equal(steps.most_jobs, 1, 0);
    steps_free(&steps);
    (void)state;
}

static void test_nothing(void **state)
{
    struct steps steps = {0};
    steps_sum(&steps);
    steps_thin(&steps, 0, 10, 5);
    expect(&steps, NULL, 0);
    (void)state;
}

static void test_few_steps_stay_exact(void **state)
{
    struct steps steps = {0};
    steps_add(&steps, 1, 2, 3);
    steps_sum(&steps);
    steps_thin(&steps, 0, 10, 2);
    expect(&steps, (struct step[]){{1, 1, 3}, {2, 0, 0}}, 2);
    assert_float_equal(steps.thinned, 0, 0);
    steps_free(&steps);
    (void)state;
}

/* From -2 on, so that what was before the begin counts as little as it should. */
static void test_many_steps_become_means(void **state)
{
    struct steps steps = {0};
    steps_add(&steps, 2, 6, 8);
    steps_add(&steps, 5, 9, 4);
    steps_sum(&steps);
    steps_thin(&steps, -2, 10, 3);
    expect(&steps, (struct step[]){{-2, 0, 0}, {2, 1.25, 9}, {6, 0.75, 3}}, 3);
    assert_float_equal(steps.thinned, 4, 1e-9);
    assert_float_equal(steps.most_nodes, 12, 0);
    steps_free(&steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_in_any_order),
        cmocka_unit_test(test_what_ends_when_another_begins_is_one_step),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_few_steps_stay_exact),
        cmocka_unit_test(test_many_steps_become_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
