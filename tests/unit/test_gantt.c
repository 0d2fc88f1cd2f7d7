/* Which stays are drawn one by one, what becomes of the others, and the text of nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/gantt.h"
#include "report/schedule.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void test_nodes_as_text(void **state)
{
    static const char *const wrong[] = {"",   ",",   ",1",  "1,",  "x",     "1x",  "-1",
                                        "1-", "2-1", "1,1", "3,2", "0-3,3", "0-8", "8"};
    int nodes, ranges;
    assert_true(schedule_count_ranges("0-3,5,7", 8, &nodes, &ranges));
    assert_int_equal(nodes, 6);
    assert_int_equal(ranges, 3);
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(schedule_count_ranges(wrong[i], 8, &nodes, &ranges));
    (void)state;
}

/* 4000 seconds on 4 nodes, so that a column of the picture is 10 s, and half a pixel 2 s. */
static struct schedule_stay stays[] = {
    {0, 1000, "0-1", NULL, 2, 1},    /* 2000 node seconds */
    {1000, 1004, "0-3", NULL, 4, 1}, /* 16 */
    {1500, 1505, "1,3", NULL, 2, 2}, /* 10 */
    {2000, 2001, "0-3", NULL, 4, 1}, /* 4, and narrow */
};
static struct schedule_job job = {.id = 1, .stays = stays, .stay_count = COUNT(stays)};
static struct schedule_run run = {.jobs = &job, .job_count = 1};
static struct schedule schedule = {.nodes = 4, .begin = 0, .end = 4000, .runs = &run, .run_count = 1};

static void test_all_are_shown_if_they_fit(void **state)
{
    struct gantt gantt;
    assert_int_equal(gantt_choose(&gantt, &schedule, &run, 4, 4), 0);
    assert_int_equal(gantt.count, 4);
    assert_int_equal(gantt.left_out, 0);
    assert_int_equal(gantt.rows, 0);
    gantt_free(&gantt);
    (void)state;
}

static void test_the_largest_are_shown_by_time(void **state)
{
    struct gantt gantt;
    assert_int_equal(gantt_choose(&gantt, &schedule, &run, 2, 4), 0);
    assert_int_equal(gantt.count, 2);
    assert_int_equal(gantt.left_out, 2);
    assert_ptr_equal(gantt.shown[0].stay, &stays[0]);
    assert_ptr_equal(gantt.shown[1].stay, &stays[1]);
    gantt_free(&gantt);
    (void)state;
}

/* Stays 2 and 3 are left out: the half of a column of two nodes, and a tenth of all four. */
static void test_the_others_are_painted(void **state)
{
    struct gantt gantt;
    int painted = 0;
    assert_int_equal(gantt_choose(&gantt, &schedule, &run, 2, 4), 0);
    assert_int_equal(gantt.rows, 4);
    for (int row = 0; row < 4; row++) {
        assert_int_equal(gantt_level(&gantt, row, 150), row % 2 ? 2 : 0);
        assert_int_equal(gantt_level(&gantt, row, 200), 1);
        for (int column = 0; column < GANTT_COLUMNS; column++)
            painted += gantt_level(&gantt, row, column) > 0;
    }
    assert_int_equal(painted, 6);
    gantt_free(&gantt);
    (void)state;
}

/* One narrow stay does not fit: it is no reason to leave out one that is wide enough, whatever nodes it has. */
static void test_scattered_nodes_are_one_stay(void **state)
{
    struct gantt gantt;
    assert_int_equal(gantt_choose(&gantt, &schedule, &run, 3, 4), 0);
    assert_int_equal(gantt.count, 3);
    assert_int_equal(gantt.left_out, 1);
    assert_ptr_equal(gantt.shown[2].stay, &stays[2]);
    gantt_free(&gantt);
    (void)state;
}

/* Two nodes to a row: of stay 2, each row has one, for half of a column. */
static void test_many_nodes_share_a_row(void **state)
{
    struct gantt gantt;
    assert_int_equal(gantt_choose(&gantt, &schedule, &run, 2, 2), 0);
    assert_int_equal(gantt.rows, 2);
    assert_float_equal(gantt.shares[150], 0.25, 1e-9);
    assert_float_equal(gantt.shares[GANTT_COLUMNS + 150], 0.25, 1e-9);
    assert_float_equal(gantt.shares[200], 0.1, 1e-9);
    gantt_free(&gantt);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_as_text),
        cmocka_unit_test(test_all_are_shown_if_they_fit),
        cmocka_unit_test(test_the_largest_are_shown_by_time),
        cmocka_unit_test(test_the_others_are_painted),
        cmocka_unit_test(test_scattered_nodes_are_one_stay),
        cmocka_unit_test(test_many_nodes_share_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
