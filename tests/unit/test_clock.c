/*
 * The clock of another process, with a channel that only pretends: its clock is ahead, its answers take a while, some
 * get lost, and some take longer one way than the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/json.h"
#include "runtime/control/clock_offset.h"

static struct {
    int64_t ahead;     /* ns that the other clock is ahead */
    int asked, lose;   /* questions so far; how many of the first are lost */
    long there, back;  /* us that messages take, but in one round */
    int quick;         /* that round */
    const char *clock; /* another one than it is, or NULL */
} channel;

static void delay(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    if (channel.asked != channel.quick)
        nanosleep(&time, NULL);
}

static void *deliver(void *answer)
{
    delay(channel.back);
    clock_answered(answer);
    cJSON_Delete(answer);
    return NULL;
}

static int tell(void *context, const cJSON *message)
{
    pthread_t thread;
    assert_null(context);
    if (channel.asked++ < channel.lose)
        return 0;
    delay(channel.there);
    cJSON *answer = clock_answer(message);
    assert_non_null(answer);
    int64_t ns = json_int64(answer, "seconds", 0) * 1000000000 + json_int64(answer, "nanoseconds", 0) + channel.ahead;
    cJSON_ReplaceItemInObject(answer, "seconds", cJSON_CreateNumber((double)(ns / 1000000000)));
    cJSON_ReplaceItemInObject(answer, "nanoseconds", cJSON_CreateNumber((double)(ns % 1000000000)));
    if (channel.clock)
        cJSON_ReplaceItemInObject(answer, "clock", cJSON_CreateString(channel.clock));
    assert_int_equal(pthread_create(&thread, NULL, deliver, answer), 0);
    return pthread_detach(thread);
}

static struct clock_reading ask(void)
{
    struct clock_reading reading = {0};
    assert_int_equal(clock_ask(tell, NULL, &reading), 0);
    return reading;
}

static int start(void **state)
{
    (void)state;
    memset(&channel, 0, sizeof channel);
    channel.quick = -1;
    return 0;
}

static void off_by(const struct clock_reading *reading, int64_t truth)
{
    int64_t error = reading->offset - truth;
    assert_true(llabs(error) <= reading->uncertainty);
}

static void the_same_clock_has_no_offset(void **state)
{
    (void)state;
    struct clock_reading reading = ask();
    assert_true(reading.same_clock && reading.same_host);
    assert_int_equal(reading.offset, 0);
    assert_int_equal(reading.uncertainty, 0);
}

static void a_clock_that_is_ahead(void **state)
{
    (void)state;
    channel.ahead = INT64_C(20000000) * 1000000000 + 5; /* 231 days: more digits than a JSON number has */
    struct clock_reading reading = ask();
    assert_false(reading.same_clock);
    off_by(&reading, channel.ahead);
}

/* Same by name, but not by its time: a time namespace that the system does not show. */
static void a_clock_of_the_same_name_that_is_behind(void **state)
{
    (void)state;
    channel.ahead = -INT64_C(3600000000000);
    struct clock_reading reading = ask();
    assert_false(reading.same_clock);
    off_by(&reading, channel.ahead);
}

static void another_clock_that_happens_to_be_equal(void **state)
{
    (void)state;
    channel.clock = "of another kernel";
    struct clock_reading reading = ask();
    assert_false(reading.same_clock);
    assert_true(reading.uncertainty > 0);
    off_by(&reading, 0);
}

static void the_quickest_answer_counts(void **state)
{
    (void)state;
    channel.ahead = 1000000000;
    channel.there = 100000; /* the other rounds are wrong by 50 ms */
    channel.quick = 3;
    struct clock_reading reading = ask();
    off_by(&reading, channel.ahead);
    assert_true(reading.uncertainty < 50000000);
}

static void answers_that_get_lost(void **state)
{
    (void)state;
    channel.ahead = 1000000000;
    channel.lose = 2;
    struct clock_reading reading = ask();
    off_by(&reading, channel.ahead);
}

static void nobody_answers(void **state)
{
    (void)state;
    struct clock_reading reading;
    channel.lose = 1000;
    assert_int_equal(clock_ask(tell, NULL, &reading), -1);
    assert_true(channel.asked < 10); /* it gave up in time */
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_clock_has_no_offset),
        TEST(a_clock_that_is_ahead),
        TEST(a_clock_of_the_same_name_that_is_behind),
        TEST(another_clock_that_happens_to_be_equal),
        TEST(the_quickest_answer_counts),
        TEST(answers_that_get_lost),
        TEST(nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
