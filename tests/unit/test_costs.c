/* What the indices of a distribution cost, as balances tell of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/describe/costs.h"

enum { INDICES = 1200, RANKS = 4, DEAR = 300, MILLION = 1000000 };

static int forget(void **state)
{
    (void)state;
    costs_forget();
    return 0;
}

/* ---- What they cost in truth --------------------------------------------------------------------- */

static int64_t sum_of(const int64_t *costs, int64_t first, int64_t end)
{
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++)
        sum += costs[i];
    return sum;
}

/* Those from `first` on cost ten times as much as the others. */
static void dear_from(int64_t first, int64_t costs[INDICES])
{
    for (int64_t i = 0; i < INDICES; i++)
        costs[i] = i >= first && i < first + DEAR ? 10 : 1;
}

/* As they are measured: parts of a million of the largest. */
static void loads_of(const int64_t *costs, const int64_t *starts, int ranks, int *loads)
{
    int64_t most = 1;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t sum = sum_of(costs, starts[rank], starts[rank + 1]);
        most = sum > most ? sum : most;
    }
    for (int rank = 0; rank < ranks; rank++)
        loads[rank] = (int)(sum_of(costs, starts[rank], starts[rank + 1]) * MILLION / most);
}

static double imbalance_of(const int *loads, int ranks)
{
    double sum = 0;
    for (int rank = 0; rank < ranks; rank++)
        sum += loads[rank];
    return MILLION * ranks / sum;
}

/* ---- What is known of it ------------------------------------------------------------------------- */

static struct costs *learned(const char *name, int64_t count, const int64_t *starts, const int *loads, int ranks)
{
    struct costs *costs = costs_of(name, count);
    assert_non_null(costs);
    assert_int_equal(costs_learn(costs, starts, loads, ranks), 0);
    return costs;
}

/* How much dearer one index is held to be than another one of the same block. */
static double over(const struct costs *costs, int64_t one, int64_t other)
{
    int64_t weights[2];
    costs_weigh(costs, one, 1, &weights[0]);
    costs_weigh(costs, other, 1, &weights[1]);
    return (double)weights[0] / (double)weights[1];
}

static void test_at_first_all_are_alike(void **state)
{
    int64_t weights[100];
    (void)state;
    costs_weigh(costs_of("new", 100), 0, 100, weights);
    for (int i = 0; i < 100; i++)
        assert_true(weights[i] >= 1 && weights[i] == weights[0]);
}

static const int64_t halves[] = {0, 50, 100}, later[] = {0, 28, 100};

/* The first half costs 9 each, the other 1. */
static struct costs *with_a_dear_half(const char *name)
{
    return learned(name, 100, halves, (const int[]){MILLION, MILLION / 9}, 2);
}

static void test_within_a_block_all_are_alike(void **state)
{
    (void)state;
    const struct costs *costs = with_a_dear_half("halves");
    assert_float_equal(over(costs, 0, 49), 1, 1e-6);
    assert_float_equal(over(costs, 50, 99), 1, 1e-6);
    assert_float_equal(over(costs, 49, 50), 9, 1e-3);
}

static void test_earlier_cuts_tell_more(void **state)
{
    (void)state;
    with_a_dear_half("halves");
    const struct costs *costs = learned("halves", 100, later, (const int[]){MILLION, 248 * MILLION / 252}, 2);
    assert_float_equal(over(costs, 49, 50), 9, 0.01);
    assert_float_equal(over(costs, 27, 28), 1, 0.01);
}

/* The cheap half has become dear: what was known of the second block is worth less. */
static void test_what_was_not_foretold_is_flatter(void **state)
{
    (void)state;
    with_a_dear_half("halves");
    const struct costs *costs = learned("halves", 100, later, (const int[]){28 * MILLION / 72, MILLION}, 2);
    assert_in_range((int)(over(costs, 28, 99) * 100), 110, 700);
}

static void test_what_has_wandered_is_found(void **state)
{
    (void)state;
    const int64_t even[] = {0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200};
    int64_t truth[INDICES];
    int loads[12];
    struct costs *costs = costs_of("wanders", INDICES);
    for (int64_t first = 300; first <= 318; first += 6) {
        dear_from(first, truth);
        loads_of(truth, even, 12, loads);
        assert_int_equal(costs_learn(costs, even, loads, 12), 0);
    }
    assert_in_range((int)over(costs, 319, 316), 5, 11);
    assert_in_range((int)over(costs, 617, 619), 5, 11);
}

static void test_names_and_counts_are_apart(void **state)
{
    (void)state;
    struct costs *costs = with_a_dear_half("one");
    assert_ptr_equal(costs_of("one", 100), costs);
    assert_float_equal(over(costs_of("other", 100), 49, 50), 1, 0);
    assert_float_equal(over(costs_of("one", 100), 49, 50), 9, 1e-3);
    assert_float_equal(over(costs_of("one", 99), 49, 50), 1, 0); /* it was of others */
    with_a_dear_half("one");
    costs_forget();
    assert_float_equal(over(costs_of("one", 100), 49, 50), 1, 0);
}

static void test_ranks_without_indices_or_load(void **state)
{
    (void)state;
    const int64_t starts[] = {0, 0, 40, 40, 100, 100};
    const struct costs *costs = learned("few", 100, starts, (const int[]){7, MILLION, 7, 0, MILLION}, 5);
    assert_true(over(costs, 39, 40) > 1000);
    learned("none", 0, (const int64_t[]){0, 0, 0}, (const int[]){0, MILLION}, 2);
    costs = learned("idle", 100, halves, (const int[]){0, 0}, 2);
    assert_float_equal(over(costs, 0, 99), 1, 1e-6);
}

/* Whatever cuts and loads come, however often. */
static void test_any_cuts_and_loads(void **state)
{
    int64_t starts[RANKS + 1] = {0, [RANKS] = INDICES}, weights[INDICES];
    int loads[RANKS];
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        for (int rank = 0; rank < RANKS; rank++) {
            random = random * 1664525 + 1013904223;
            loads[rank] = (int)(random >> 8) % (MILLION + 1);
            random = random * 1664525 + 1013904223;
            starts[rank] = rank ? starts[rank - 1] + (int64_t)(random >> 8) % (INDICES + 1 - starts[rank - 1]) : 0;
        }
        costs_weigh(learned("any", INDICES, starts, loads, RANKS), 0, INDICES, weights);
        for (int i = 0; i < INDICES; i++)
            assert_in_range(weights[i], 1, MILLION + 1);
    }
}

/* Blocks of which the sums of all are too large to tell them apart. */
static void test_few_of_very_many(void **state)
{
    const int64_t most = INT64_C(1000000000000);
    int64_t weights[6];
    (void)state;
    for (int64_t round = 0; round < 100; round++) {
        const int64_t starts[] = {0, most / 2 + round % 7, most / 2 + 7, most / 2 + 8, most};
        const int loads[] = {MILLION, 1 + (int)round % 3, 1, MILLION / 2};
        costs_weigh(learned("many", most, starts, loads, RANKS), most / 2 + 3, 6, weights);
        for (int i = 0; i < 6; i++)
            assert_in_range(weights[i], 1, MILLION + 1);
    }
}

/* ---- Balances, one after the other --------------------------------------------------------------- */

/* Where blocks end whose indices weigh the same together, if those of each rank weigh its load. */
static void cut(const struct costs *costs, const int *loads, int64_t *starts)
{
    static double each[INDICES];
    int64_t weights[INDICES];
    double all = 0, sum = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int64_t first = starts[rank], rows = starts[rank + 1] - first;
        costs_weigh(costs, first, rows, weights);
        for (int64_t i = 0; i < rows; i++)
            each[first + i] = (double)loads[rank] * (double)weights[i] / (double)sum_of(weights, 0, rows);
        all += rows ? loads[rank] : 0;
    }
    for (int64_t i = 0, rank = 1; i < INDICES && rank < RANKS; sum += each[i++])
        while (rank < RANKS && sum + each[i] / 2 >= all * (double)rank / RANKS)
            starts[rank++] = i;
}

/* In the mean, with a balance after each `step` indices by which the dear ones wander. */
static double mean_imbalance(int64_t step, bool forgets)
{
    int64_t starts[] = {0, 300, 600, 900, INDICES}, truth[INDICES];
    int loads[RANKS], times = 0;
    double sum = 0;
    for (int64_t first = 0; first + DEAR <= INDICES; first += step, times++) {
        if (forgets)
            costs_forget();
        dear_from(first, truth);
        loads_of(truth, starts, RANKS, loads);
        sum += times >= 4 ? imbalance_of(loads, RANKS) : 0; /* the first ones make good cuts */
        cut(learned("dear", INDICES, starts, loads, RANKS), loads, starts);
    }
    return sum / (times - 4);
}

static void test_balances_follow_what_wanders(void **state)
{
    (void)state;
    for (int64_t step = 4; step <= 12; step += 4) {
        double with = mean_imbalance(step, false), without = mean_imbalance(step, true);
        print_message("wanders by %d: %.3f, with the last loads alone %.3f\n", (int)step, with, without);
        assert_true(with - 1 < 0.7 * (without - 1));
        costs_forget();
    }
}

static void test_balances_of_constant_costs(void **state)
{
    int64_t starts[] = {0, 300, 600, 900, INDICES}, truth[INDICES];
    int loads[RANKS];
    (void)state;
    dear_from(0, truth);
    for (int balances = 0; balances < 4; balances++) {
        loads_of(truth, starts, RANKS, loads);
        cut(learned("constant", INDICES, starts, loads, RANKS), loads, starts);
    }
    loads_of(truth, starts, RANKS, loads);
    assert_true(imbalance_of(loads, RANKS) < 1.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_at_first_all_are_alike, forget),
        cmocka_unit_test_teardown(test_within_a_block_all_are_alike, forget),
        cmocka_unit_test_teardown(test_earlier_cuts_tell_more, forget),
        cmocka_unit_test_teardown(test_what_was_not_foretold_is_flatter, forget),
        cmocka_unit_test_teardown(test_what_has_wandered_is_found, forget),
        cmocka_unit_test_teardown(test_names_and_counts_are_apart, forget),
        cmocka_unit_test_teardown(test_ranks_without_indices_or_load, forget),
        cmocka_unit_test_teardown(test_any_cuts_and_loads, forget),
        cmocka_unit_test_teardown(test_few_of_very_many, forget),
        cmocka_unit_test_teardown(test_balances_follow_what_wanders, forget),
        cmocka_unit_test_teardown(test_balances_of_constant_costs, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
