/* Nodes over time, of the policy gain: what is added before the sum and behind it, and taken back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "scheduler/policies/gain_line.h"

#define USES 400

struct use {
    double begin, end;
    int nodes;
    bool there;
};

static uint64_t seed = 1;

static int any(int from, int to)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (int)((seed >> 33) % (unsigned)(to - from + 1));
}

/* Few times, so that many changes meet; some have begun, some never end. */
static struct use any_use(void)
{
    double begin = any(-20, 60);
    return (struct use){begin, any(0, 9) ? begin + any(0, 40) : INFINITY, any(1, 9), true};
}

static void add(struct gain_line *line, const struct use *use, int times)
{
    struct gain_point more = {.idle = -use->nodes, .nodes = use->nodes, .room = 2 * use->nodes};
    gain_line_add(line, use->begin, use->end, more, times);
}

static int nodes_then(const struct use *uses, double time)
{
    int nodes = 0;
    for (int i = 0; i < USES; i++)
        nodes += uses[i].there && uses[i].begin <= time && time < uses[i].end ? uses[i].nodes : 0;
    return nodes;
}

static bool any_change(const struct use *uses, double time)
{
    for (int i = 0; i < USES; i++)
        if (uses[i].there && (uses[i].begin == time || uses[i].end == time))
            return true;
    return false;
}

/* A point for each time at which something changes, and for now. */
static void assert_line(const struct gain_line *line, const struct use *uses)
{
    int count = 1;
    for (double time = 0; time < 110; time++) {
        const struct gain_point *at = &line->points[gain_line_at(line, time)];
        assert_int_equal(at->nodes, nodes_then(uses, time));
        assert_int_equal(at->idle, -at->nodes);
        assert_int_equal(at->room, 2 * at->nodes);
        count += time > 0 && any_change(uses, time);
    }
    assert_int_equal(line->count, count);
    assert_float_equal(line->points[0].time, 0, 0);
    for (int i = 1; i < line->count; i++)
        assert_true(line->points[i].time > line->points[i - 1].time);
}

static void test_changes_before_the_sum_and_behind_it(void **state)
{
    struct gain_line line = {0};
    struct use uses[USES] = {{0}};
    (void)state;
    assert_int_equal(gain_line_begin(&line, 2 * USES), 0);
    for (int i = 0; i < USES / 2; i++)
        uses[i] = any_use(), add(&line, &uses[i], 1);
    gain_line_sum(&line);
    assert_line(&line, uses);
    for (int i = USES / 2; i < USES; i++)
        uses[i] = any_use(), add(&line, &uses[i], 1);
    assert_line(&line, uses);
    gain_line_free(&line);
}

static void test_what_is_taken_back_leaves_nothing(void **state)
{
    struct gain_line line = {0};
    struct use uses[USES];
    (void)state;
    assert_int_equal(gain_line_begin(&line, 2 * USES), 0);
    for (int i = 0; i < USES; i++)
        uses[i] = any_use(), add(&line, &uses[i], 1);
    gain_line_sum(&line);
    for (int i = 0; i < USES; i++) {
        uses[i].there = false;
        add(&line, &uses[i], -1);
        if (i % 50 == 0)
            assert_line(&line, uses);
    }
    assert_int_equal(line.count, 1);
    gain_line_free(&line);
}

static void test_a_line_that_was_not_begun(void **state)
{
    struct gain_line line = {0};
    struct use use = any_use();
    (void)state;
    add(&line, &use, 1);
    assert_null(line.points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_before_the_sum_and_behind_it),
        cmocka_unit_test(test_what_is_taken_back_leaves_nothing),
        cmocka_unit_test(test_a_line_that_was_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
