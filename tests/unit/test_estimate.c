/* The estimate of the time left, with a made-up clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/coordinator/progress.h"

/* Reports every `step` seconds from `from` to `to` of a program that does `rate` iterations per second. */
static double run(struct estimate *e, double from, double to, double step, double first, double rate, int64_t bound,
                  int size)
{
    double time = from;
    for (; time <= to; time += step)
        estimate_add(e, time, (int64_t)(first + rate * (time - from)), bound, size, EPOP_SCALING_STRONG);
    return time - step;
}

static void assert_close(double found, double expected, double share)
{
    if (fabs(found - expected) > share * expected)
        fail_msg("%g is not %g, to %g", found, expected, share);
}

static void nothing_is_known(void **state)
{
    struct estimate e = {0};
    (void)state;
    assert_true(estimate_left(&e, 5) < 0);
    estimate_add(&e, 5, 10, 100, 2, EPOP_SCALING_STRONG);
    assert_true(estimate_left(&e, 5) < 0); /* one point is no rate */
    estimate_add(&e, 6, 20, 0, 2, EPOP_SCALING_STRONG);
    assert_true(estimate_left(&e, 6) < 0); /* no bound */
}

static void a_steady_rate(void **state)
{
    struct estimate e = {0};
    (void)state;
    double now = run(&e, 100, 110, 0.5, 0, 50, 1000, 2);
    assert_close(estimate_rate(&e), 50, 0.01);
    assert_close(estimate_left(&e, now), 10, 0.01);
    assert_close(estimate_left(&e, now + 4), 6, 0.01);
    assert_true(estimate_left(&e, now + 40) == 0);
}

/* Iterations of 10 s, looked at twice a second: between two of them the estimate counts down, and does not jump. */
static void slow_iterations(void **state)
{
    struct estimate e = {0};
    (void)state;
    run(&e, 0, 35, 0.5, 0, 0.1, 100, 2);
    double left = estimate_left(&e, 35), later = estimate_left(&e, 39);
    assert_close(left, 965, 0.02);
    assert_close(left - later, 4, 0.01);
}

/* The prior alone is right where the program scales. */
static void right_after_a_resize(void **state)
{
    struct estimate e = {0};
    (void)state;
    double now = run(&e, 0, 60, 0.5, 0, 10, 10000, 2);
    estimate_add(&e, now + 1, 600, 10000, 4, EPOP_SCALING_STRONG);
    assert_close(estimate_rate(&e), 20, 0.01);
    assert_close(estimate_left(&e, now + 1), 470, 0.02);
}

/* With weak scaling as many iterations are left, and take as long; where progress counts work there is more of it. */
static void right_after_a_resize_with_weak_scaling(void **state)
{
    (void)state;
    for (epop_scaling scaling = EPOP_SCALING_WEAK; scaling <= EPOP_SCALING_WEAK_WORK; scaling++) {
        struct estimate e = {0};
        double now = run(&e, 0, 60, 0.5, 0, 10, 10000, 2);
        estimate_add(&e, now + 1, 600, 10000, 4, scaling);
        assert_close(estimate_left(&e, now + 1), scaling == EPOP_SCALING_WEAK ? 940 : 470, 0.02);
    }
}

/* Where it does not scale as the prior has it, what is seen counts after a few iterations. */
static void soon_after_a_resize(void **state)
{
    struct estimate e = {0};
    (void)state;
    run(&e, 0, 60, 0.5, 0, 10, 10000, 2);
    run(&e, 61, 65, 0.5, 600, 5, 10000, 4);
    assert_close(estimate_rate(&e), 5, 0.1);
    assert_close(estimate_left(&e, 65), (10000 - 620) / 5., 0.1);
    run(&e, 65.5, 80, 0.5, 622, 5, 10000, 4);
    assert_close(estimate_rate(&e), 5, 0.03);
}

/* An estimate over the whole run would still be far off there. */
static void old_times_do_not_count(void **state)
{
    struct estimate e = {0};
    (void)state;
    run(&e, 0, 1000, 0.5, 0, 1, 100000, 1);
    run(&e, 1001, 1011, 0.5, 1000, 8, 100000, 8);
    assert_close(estimate_left(&e, 1011), (100000 - 1080) / 8., 0.05);
}

static void another_phase(void **state)
{
    struct estimate e = {0};
    (void)state;
    run(&e, 0, 10, 0.5, 0, 10, 100, 2);
    estimate_add(&e, 11, 0, 100, 2, EPOP_SCALING_STRONG);
    assert_true(estimate_left(&e, 11) < 0);
    run(&e, 11, 20, 0.5, 0, 2, 100, 2);
    assert_close(estimate_rate(&e), 2, 0.05);
    estimate_add(&e, 21, 20, 500, 2, EPOP_SCALING_STRONG);
    assert_true(estimate_left(&e, 21) < 0);
}

static void a_pause(void **state)
{
    struct estimate e = {0};
    (void)state;
    run(&e, 0, 10, 0.5, 0, 10, 1000, 2);
    estimate_skip(&e, 100);
    run(&e, 110.5, 120, 0.5, 105, 10, 1000, 2);
    assert_close(estimate_rate(&e), 10, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known),
        cmocka_unit_test(a_steady_rate),
        cmocka_unit_test(slow_iterations),
        cmocka_unit_test(right_after_a_resize),
        cmocka_unit_test(right_after_a_resize_with_weak_scaling),
        cmocka_unit_test(soon_after_a_resize),
        cmocka_unit_test(old_times_do_not_count),
        cmocka_unit_test(another_phase),
        cmocka_unit_test(a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
