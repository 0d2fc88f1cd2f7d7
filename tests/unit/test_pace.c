/* How much of the cores threads take that work beside a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/ahead/pace.h"

/* Of one core, while somebody else wants it. */
static double part_of_core(double rest)
{
    return 1 / (1 + rest);
}

static void test_a_tenth_of_the_own_core(void **state)
{
    (void)state;
    assert_float_equal(part_of_core(pace_share(1, 64)), 0.1, 1e-9);
    assert_float_equal(part_of_core(pace_share(64, 64)), 0.1, 1e-9);
    assert_float_equal(part_of_core(pace_share(4, 0)), 0.1, 1e-9); /* how many there are is not known */
}

static void test_a_tenth_of_all_cores_together(void **state)
{
    (void)state;
    for (int cores = 1; cores <= 8; cores *= 2)
        for (int threads = cores; threads <= 64; threads++)
            assert_float_equal(threads * part_of_core(pace_share(threads, cores)), 0.1 * cores, 1e-9);
}

static void test_in_time_it_is_as_said(void **state)
{
    (void)state;
    assert_float_equal(pace_in_time(9, 1000, 0, 5), 9, 0); /* it has not begun, and knows nothing */
    assert_float_equal(pace_in_time(9, 1000, 1, -5), 9, 0);
    assert_float_equal(pace_in_time(9, 1000, 0.5, 20000), 9, 0);
}

static void test_late_it_rests_less(void **state)
{
    (void)state;
    assert_float_equal(pace_in_time(9, 1000, 0.5, 3000), 2, 1e-9);
    assert_float_equal(pace_in_time(9, 1000, 0.25, 6000), 1, 1e-9);
}

/* What is left of the work, with the rests in it, then takes what is left of the time. */
static void test_late_it_is_through_in_time(void **state)
{
    (void)state;
    for (int percent = 1; percent < 100; percent++)
        for (int64_t left = 1000; left < 1000000; left *= 3) {
            double done = percent / 100.0, due = 5000 * (1 - done) / done, rest = pace_in_time(19, 5000, done, left);
            assert_true(rest >= 0 && rest <= 19);
            assert_true(rest == 0 || due * (1 + rest) <= (double)left * (1 + 1e-9));
        }
}

static void test_too_late_it_does_not_rest(void **state)
{
    (void)state;
    assert_float_equal(pace_in_time(9, 1000, 0.5, 900), 0, 0);
    assert_float_equal(pace_in_time(9, 1000, 0.5, 0), 0, 0);
    assert_float_equal(pace_in_time(9, 1000, 0.5, -100000), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tenth_of_the_own_core),    cmocka_unit_test(test_a_tenth_of_all_cores_together),
        cmocka_unit_test(test_in_time_it_is_as_said),      cmocka_unit_test(test_late_it_rests_less),
        cmocka_unit_test(test_late_it_is_through_in_time), cmocka_unit_test(test_too_late_it_does_not_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
