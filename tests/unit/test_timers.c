/* The list of deadlines, by a clock that the test moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "runtime/base/timers.h"

static double now;

static double clock_of_the_test(void)
{
    return now;
}

static struct timers timers;
static struct timer one, two;
static struct timer_group group;
static char rung[16];

static void note(char what)
{
    rung[strlen(rung)] = what;
}

static void ring(void *context)
{
    note(*(const char *)context);
}

static void ring_and_set_again(void *context)
{
    ring(context);
    timers_set(&timers, &one, 0);
}

static void ring_and_cancel_the_other(void *context)
{
    ring(context);
    timers_cancel(&timers, &two);
}

static int set_up(void **state)
{
    (void)state;
    now = 100;
    memset(rung, 0, sizeof rung);
    group = (struct timer_group){0};
    timers_init(&timers, clock_of_the_test);
    timer_init(&one, ring, "1", NULL);
    timer_init(&two, ring, "2", &group);
    return 0;
}

static void run_at(double time)
{
    now = time;
    timers_run(&timers);
}

static void a_timer_rings_once_when_it_is_due(void **state)
{
    (void)state;
    timers_set(&timers, &one, 5);
    run_at(104.9);
    assert_string_equal(rung, "");
    run_at(105);
    run_at(106);
    assert_string_equal(rung, "1");
    assert_false(one.set);
}

static void the_earliest_rings_first(void **state)
{
    (void)state;
    timers_set(&timers, &one, 4.25);
    timers_set(&timers, &two, 4);
    assert_true(timers_next(&timers, 60) == 4);
    run_at(104.25);
    assert_string_equal(rung, "21");
}

static void the_wait_is_bounded_and_never_negative(void **state)
{
    (void)state;
    assert_true(timers_next(&timers, 60) == 60);
    timers_set(&timers, &one, 100);
    assert_true(timers_next(&timers, 60) == 60);
    now = 300;
    assert_true(timers_next(&timers, 60) == 0);
}

static void what_is_set_again_counts_from_then(void **state)
{
    (void)state;
    timers_set(&timers, &one, 5);
    now = 104;
    timers_set(&timers, &one, 5);
    assert_true(timers_left(&timers, &one) == 5);
    run_at(108);
    assert_string_equal(rung, "");
    timers_cancel(&timers, &one);
    timers_cancel(&timers, &one);
    assert_true(timers_left(&timers, &one) == 0);
    run_at(200);
    assert_string_equal(rung, "");
}

static void one_that_sets_itself_rings_again_the_next_time(void **state)
{
    (void)state;
    timer_init(&one, ring_and_set_again, "1", NULL);
    timers_set(&timers, &one, 0);
    timers_run(&timers);
    assert_string_equal(rung, "1");
    assert_true(timers_next(&timers, 60) == 0);
    timers_run(&timers);
    assert_string_equal(rung, "11");
}

static void one_that_another_cancels_does_not_ring(void **state)
{
    (void)state;
    timer_init(&one, ring_and_cancel_the_other, "1", NULL);
    timers_set(&timers, &one, 1);
    timers_set(&timers, &two, 2);
    run_at(200);
    assert_string_equal(rung, "1");
}

static void a_group_stands_still(void **state)
{
    (void)state;
    timers_set(&timers, &one, 5);
    timers_set(&timers, &two, 5);
    now = 102;
    timers_stop(&timers, &group);
    run_at(120);
    assert_string_equal(rung, "1");
    assert_true(timers_next(&timers, 60) == 60);
    assert_true(timers_left(&timers, &two) == 3);
    timers_go_on(&timers, &group);
    run_at(122.9);
    assert_string_equal(rung, "1");
    run_at(123);
    assert_string_equal(rung, "12");
}

/* A pause and a debugger may have their reasons at a time. */
static void a_group_goes_on_when_the_last_reason_is_gone(void **state)
{
    (void)state;
    timers_set(&timers, &two, 5);
    timers_stop(&timers, &group);
    timers_stop(&timers, &group);
    now = 150;
    timers_go_on(&timers, &group);
    run_at(160);
    assert_string_equal(rung, "");
    timers_go_on(&timers, &group);
    run_at(164);
    assert_string_equal(rung, "");
    run_at(165);
    assert_string_equal(rung, "2");
}

static void what_is_set_in_a_group_that_stands_still_has_its_whole_time(void **state)
{
    (void)state;
    timers_stop(&timers, &group);
    now = 150;
    timers_set(&timers, &two, 5);
    now = 200;
    assert_true(timers_left(&timers, &two) == 5);
    timers_go_on(&timers, &group);
    run_at(204);
    assert_string_equal(rung, "");
    run_at(205);
    assert_string_equal(rung, "2");
}

/* A process that was stopped, or a machine that is far too busy. */
static void the_time_that_the_thread_does_not_run_is_nobodys(void **state)
{
    (void)state;
    timers_set(&timers, &one, 5);
    timers_set(&timers, &two, 5);
    assert_true(timers_next(&timers, 2) == 2);
    run_at(112); /* ten seconds late */
    assert_string_equal(rung, "1");
    run_at(114.9);
    assert_string_equal(rung, "1");
    run_at(115.5); /* with half a second to look at what has come */
    assert_string_equal(rung, "12");
}

static void one_without_a_function_only_ends_the_wait(void **state)
{
    (void)state;
    timer_init(&one, NULL, NULL, NULL);
    timers_set(&timers, &one, 1);
    assert_true(timers_next(&timers, 60) == 1);
    run_at(101);
    assert_false(one.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_timer_rings_once_when_it_is_due, set_up),
        cmocka_unit_test_setup(the_earliest_rings_first, set_up),
        cmocka_unit_test_setup(the_time_that_the_thread_does_not_run_is_nobodys, set_up),
        cmocka_unit_test_setup(the_wait_is_bounded_and_never_negative, set_up),
        cmocka_unit_test_setup(what_is_set_again_counts_from_then, set_up),
        cmocka_unit_test_setup(one_that_sets_itself_rings_again_the_next_time, set_up),
        cmocka_unit_test_setup(one_that_another_cancels_does_not_ring, set_up),
        cmocka_unit_test_setup(a_group_stands_still, set_up),
        cmocka_unit_test_setup(a_group_goes_on_when_the_last_reason_is_gone, set_up),
        cmocka_unit_test_setup(what_is_set_in_a_group_that_stands_still_has_its_whole_time, set_up),
        cmocka_unit_test_setup(one_without_a_function_only_ends_the_wait, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
