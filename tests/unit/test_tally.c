/* The tally of iterations: what is told, when, and by whom. The seconds are the clock's, and only not negative. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/base/json.h"
#include "runtime/member/tally.h"

static struct tally tally;
static _Atomic int64_t iteration; /* the present one */

static int set_up(void **state)
{
    (void)state;
    tally_init(&tally);
    epop__tally_open(&tally, 3);
    iteration = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    epop__tally_close(&tally);
    return 0;
}

static void begin(int pc, int64_t at, int rank, int size)
{
    iteration = at;
    epop__tally_begin(&tally, &(epop_position_t){.pc = pc, .iteration = at, .rank = rank, .size = size});
}

/* What is told of that element: its iterations, 0 where there is nothing; -1: nothing at all. */
static int64_t told(int pc, int *size)
{
    int64_t iterations = 0;
    cJSON *message = cJSON_CreateObject(), *element;
    tally_tell(&tally, &iteration, message);
    const cJSON *json = cJSON_GetObjectItem(message, "tally");
    *size = json_int(json, "size", -1);
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(json, "elements"))
    {
        assert_true(json_number(element, "seconds", -1) >= 0);
        if (json_int(element, "pc", -1) == pc)
            iterations = json_int64(element, "iterations", -1);
    }
    cJSON_Delete(message);
    return json ? iterations : -1;
}

static void visits_add_up_and_are_told_once(void **state)
{
    int size;
    (void)state;
    for (int visit = 0; visit < 5; visit++) {
        begin(1, 0, 0, 4);
        epop__tally_end(&tally, 10);
    }
    assert_int_equal(told(1, &size), 50);
    assert_int_equal(size, 4);
    assert_int_equal(told(1, &size), 0);
}

static void the_present_visit_is_told_up_to_now(void **state)
{
    int size;
    (void)state;
    begin(2, 0, 0, 1);
    iteration = 7;
    assert_int_equal(told(2, &size), 7);
    iteration = 9;
    assert_int_equal(told(2, &size), 2);
    epop__tally_end(&tally, 10);
    assert_int_equal(told(2, &size), 1);
}

/* The time of an iteration that has not ended is told with the iteration. */
static void time_waits_for_its_iteration(void **state)
{
    int size;
    (void)state;
    begin(1, 3, 0, 1);
    assert_int_equal(told(1, &size), 0);
    double kept = tally.cells[1].seconds;
    assert_true(kept >= 0);
    epop__tally_end(&tally, 4);
    assert_true(tally.cells[1].seconds >= kept);
    assert_int_equal(told(1, &size), 1);
}

static void another_world_begins_anew(void **state)
{
    int size;
    (void)state;
    begin(1, 0, 0, 4);
    epop__tally_end(&tally, 5);
    begin(1, 5, 0, 2);
    epop__tally_end(&tally, 8);
    assert_int_equal(told(1, &size), 3);
    assert_int_equal(size, 2);
}

static void a_hold_is_left_out(void **state)
{
    int size;
    (void)state;
    begin(1, 0, 0, 4);
    epop__tally_end(&tally, 5);
    iteration = 6; /* nobody counts */
    assert_int_equal(told(1, &size), 5);
    begin(1, 6, 0, 4);
    iteration = 8;
    assert_int_equal(told(1, &size), 2);
}

static void other_ranks_do_not_tell(void **state)
{
    int size;
    (void)state;
    begin(1, 0, 1, 4);
    epop__tally_end(&tally, 5);
    assert_int_equal(told(1, &size), -1);
}

/* A plain executable's process that has just joined says where it is only at its next probe. */
static void an_iteration_that_lags_behind(void **state)
{
    int size;
    (void)state;
    begin(1, 20, 0, 2);
    iteration = 0;
    assert_int_equal(told(1, &size), 0);
    iteration = 22;
    assert_int_equal(told(1, &size), 2);
}

static void without_a_program(void **state)
{
    int size;
    (void)state;
    epop__tally_close(&tally);
    begin(1, 0, 0, 1);
    epop__tally_end(&tally, 5);
    assert_int_equal(told(1, &size), -1);
}

static void an_element_that_is_none(void **state)
{
    int size;
    (void)state;
    begin(3, 0, 0, 1);
    epop__tally_end(&tally, 5);
    assert_int_equal(told(3, &size), 0);
}

/* Of the present stretch alone: another visit, and what a hold leaves of one, may be slower. */
static void the_pace_is_that_since_the_last_hold(void **state)
{
    int size;
    (void)state;
    assert_true(tally_pace(&tally, &iteration) == 0);
    begin(1, 10, 1, 4);
    assert_true(tally_pace(&tally, &iteration) == 0);
    iteration = 12;
    assert_true(tally_pace(&tally, &iteration) > 0);
    told(1, &size);
    assert_true(tally_pace(&tally, &iteration) > 0);
    epop__tally_end(&tally, 12);
    assert_true(tally_pace(&tally, &iteration) == 0);
    begin(1, 12, 1, 4);
    assert_true(tally_pace(&tally, &iteration) == 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(visits_add_up_and_are_told_once),
        TEST(the_present_visit_is_told_up_to_now),
        TEST(time_waits_for_its_iteration),
        TEST(another_world_begins_anew),
        TEST(a_hold_is_left_out),
        TEST(other_ranks_do_not_tell),
        TEST(an_iteration_that_lags_behind),
        TEST(without_a_program),
        TEST(an_element_that_is_none),
        TEST(the_pace_is_that_since_the_last_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
