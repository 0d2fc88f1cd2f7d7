/* Speedups: the models are what their authors say, by another way to the same figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/workload/speedup.h"
#include "scheduler/workload/workload.h"

#define COUNT(items) (sizeof(items) / sizeof *(items))

static void assert_near(double value, double expected)
{
    double difference = value - expected;
    if (!(difference < 1e-9 && difference > -1e-9))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct speedup downey(double parallelism, double sigma)
{
    return (struct speedup){.model = SPEEDUP_DOWNEY, .parallelism = parallelism, .sigma = sigma};
}

/* A program that is at each parallelism for some share of its shortest time; n nodes stretch what is wider. */
static double stretched(double parallelism, double share, double nodes)
{
    return share * (parallelism > nodes ? parallelism / nodes : 1);
}

/* Downey's two profiles of parallelism, from which he derives his formulas. */
static double by_profile(double a, double sigma, double nodes)
{
    double wide = a + a * sigma - sigma, parts = sigma + 1;
    if (sigma <= 1)
        return a / (stretched(a, 1 - sigma, nodes) + stretched(1, sigma / 2, nodes) +
                    stretched(2 * a - 1, sigma / 2, nodes));
    return a / (stretched(1, sigma / parts, nodes) + stretched(wide, 1 / parts, nodes));
}

static void downey_is_his_profile(void **state)
{
    (void)state;
    static const double averages[] = {1, 2, 8.5, 64}, sigmas[] = {0, 0.25, 0.5, 1, 1.5, 2, 10};
    for (size_t i = 0; i < COUNT(averages); i++)
        for (size_t j = 0; j < COUNT(sigmas); j++)
            for (int nodes = 1; nodes <= 300; nodes++) {
                struct speedup speedup = downey(averages[i], sigmas[j]);
                assert_near(speedup_at(&speedup, nodes), by_profile(averages[i], sigmas[j], nodes));
            }
}

/* By hand, from the formulas of the paper. */
static void downey_by_hand(void **state)
{
    (void)state;
    struct speedup low = downey(64, 0.5), one = downey(64, 1), high = downey(64, 2);
    assert_near(speedup_at(&low, 64), 64.0 * 64 / (64 + 0.5 * 63 / 2));
    assert_near(speedup_at(&low, 100), 64.0 * 100 / (0.5 * 63.5 + 100 * 0.75));
    assert_near(speedup_at(&low, 127), 64);
    assert_near(speedup_at(&one, 32), 64.0 * 32 / (64 + 31.0 / 2));
    assert_near(speedup_at(&high, 64), 64.0 * 64 * 3 / (2 * 127.0 + 64));
    assert_near(speedup_at(&high, 190), 64);
    assert_near(speedup_at(&high, 500), 64);
}

static void amdahl(void **state)
{
    (void)state;
    struct speedup speedup = {.model = SPEEDUP_AMDAHL, .serial = 0.1};
    assert_near(speedup_at(&speedup, 1), 1);
    assert_near(speedup_at(&speedup, 10), 1 / 0.19);
    assert_near(speedup_mtct(&speedup, 10), 0.9);
}

static void a_table(void **state)
{
    (void)state;
    struct speedup_point points[] = {{2, 1.8, 0.1}, {4, 3, -1}, {8, 5, 0.6}, {16, 4, 0.8}};
    struct speedup table = {.model = SPEEDUP_TABLE, .points = points, .count = COUNT(points)};
    assert_near(speedup_at(&table, 1), 1);
    assert_near(speedup_at(&table, 2), 1.8);
    assert_near(speedup_at(&table, 3), 2.4);
    assert_near(speedup_at(&table, 5), 3.5);
    assert_near(speedup_at(&table, 12), 4.5);
    assert_near(speedup_at(&table, 16), 4);
    assert_near(speedup_at(&table, 100), 4);
    assert_near(speedup_mtct(&table, 1), 0);
    assert_near(speedup_mtct(&table, 2), 0.1);
    assert_near(speedup_mtct(&table, 4), 4.0 / 3 - 1);
    assert_near(speedup_mtct(&table, 5), 5 / 3.5 - 1);
    assert_near(speedup_mtct(&table, 12), 0.7);
}

static void one_node_is_one_and_more_are_not_slower(void **state)
{
    (void)state;
    struct speedup models[] = {{.model = SPEEDUP_LINEAR},
                               {.model = SPEEDUP_AMDAHL, .serial = 0.02},
                               downey(1, 0),
                               downey(20, 0.7),
                               downey(20, 3)};
    for (size_t i = 0; i < COUNT(models); i++) {
        assert_near(speedup_at(&models[i], 1), 1);
        assert_near(speedup_mtct(&models[i], 1), 0);
        for (int nodes = 2; nodes < 200; nodes++) {
            assert_true(speedup_at(&models[i], nodes) >= speedup_at(&models[i], nodes - 1) - 1e-12);
            assert_true(speedup_at(&models[i], nodes) <= nodes + 1e-12);
            assert_true(speedup_mtct(&models[i], nodes) >= speedup_mtct(&models[i], nodes - 1) - 1e-12);
        }
    }
}

/* The nodes beyond what a phase accepts have nothing to do. */
static void seconds_of_phases(void **state)
{
    (void)state;
    static const int squares[] = {1, 4, 9};
    struct phase phases[] = {{.iterations = 10, .seconds = 8},
                             {.iterations = 2, .seconds = 36, .range = {1, 9, squares, 3}},
                             {.iterations = 1, .seconds = 6, .range = {6, 12, NULL, 0}}};
    struct work work = {.phases = phases, .phase_count = COUNT(phases)};
    assert_int_equal(phase_nodes(&phases[1], 8), 4);
    assert_int_equal(phase_nodes(&phases[2], 5), 5);
    assert_true(phase_accepts(&phases[0], 7) && !phase_accepts(&phases[1], 8) && phase_accepts(&phases[1], 9));
    assert_near(work_seconds(&work, 8), 10 + 2 * 9 + 0.75);
    assert_near(work_seconds(&work, 16), 5 + 2 * 4 + 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(downey_is_his_profile),
        cmocka_unit_test(downey_by_hand),
        cmocka_unit_test(amdahl),
        cmocka_unit_test(a_table),
        cmocka_unit_test(seconds_of_phases),
        cmocka_unit_test(one_node_is_one_and_more_are_not_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
