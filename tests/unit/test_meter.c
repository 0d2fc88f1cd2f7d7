/* What a process measures: the sums, the window of MTCT, its spread, and reading while another thread writes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/member/meter.h"
#include "runtime/member/spread.h"

#define TEST(function) cmocka_unit_test_setup(function, new_meter)

/* Every look at it finds so much more time in MPI. */
#define MPI_STEP 7

/* A tick this long makes every iteration a value of MTCT. */
#define LONG_TICK  1e9
#define SHORT_TICK 1e-9

static struct meter meter;
static int64_t mpi;

static int64_t look_at_mpi(void)
{
    return mpi += MPI_STEP;
}

static int new_meter(void **state)
{
    (void)state;
    memset(&meter, 0, sizeof meter);
    meter.mpi_ticks = look_at_mpi;
    return 0;
}

/* The reading of that element at that size; false: there is none. */
static bool find(int pc, int size, struct meter_reading *reading)
{
    for (int i = 0; i < METER_CELLS; i++)
        if (meter_read(&meter, i, SHORT_TICK, reading) && reading->pc == pc && reading->size == size)
            return true;
    return false;
}

static int count_readings(void)
{
    struct meter_reading reading;
    int count = 0;
    for (int i = 0; i < METER_CELLS; i++)
        count += meter_read(&meter, i, SHORT_TICK, &reading);
    return count;
}

static void iterate(int count, int pc, int size)
{
    while (count-- > 0)
        epop__meter_iteration(&meter, pc, size);
}

static void assert_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-9 * (1 + fabs(expected)))
        fail_msg("%.12g is not %.12g", found, expected);
}

/* ---- The meter ----------------------------------------------------------------------------- */

static void off_there_is_nothing(void **state)
{
    (void)state;
    assert_false(meter_is_on(&meter));
    iterate(3, 1, 4); /* it was switched off a moment ago */
    assert_int_equal(count_readings(), 0);
}

static void iterations_are_counted(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    assert_true(meter_is_on(&meter));
    epop__meter_begin(&meter, 1, 4);
    iterate(3, 1, 4);
    assert_true(find(1, 4, &reading));
    assert_int_equal(reading.iterations, 3);
    assert_close(reading.mpi, 3 * MPI_STEP * SHORT_TICK);
    assert_true(reading.loop >= 0);
    assert_int_equal(reading.mtct.values, 0);
}

/* The one that was under way when it was switched on is not. */
static void the_first_only_begins(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    iterate(1, 1, 4);
    assert_true(find(1, 4, &reading) && reading.iterations == 0);
    iterate(1, 1, 4);
    assert_true(find(1, 4, &reading) && reading.iterations == 1);
    epop__meter_forget(&meter);
    iterate(1, 1, 4);
    assert_true(find(1, 4, &reading) && reading.iterations == 1);
}

static void elements_and_sizes_are_apart(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    epop__meter_begin(&meter, 1, 4);
    iterate(2, 1, 4);
    epop__meter_begin(&meter, 3, 4);
    iterate(5, 3, 4);
    epop__meter_begin(&meter, 1, 8);
    iterate(1, 1, 8);
    assert_int_equal(count_readings(), 3);
    assert_true(find(1, 4, &reading) && reading.iterations == 2);
    assert_true(find(3, 4, &reading) && reading.iterations == 5);
    assert_true(find(1, 8, &reading) && reading.iterations == 1);
}

static void sums_go_on_and_the_window_does_not(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, LONG_TICK);
    epop__meter_begin(&meter, 1, 4);
    iterate(3, 1, 4);
    assert_true(find(1, 4, &reading) && reading.mtct.values == 3);
    epop__meter_begin(&meter, 2, 4);
    epop__meter_begin(&meter, 1, 4); /* the same world */
    iterate(1, 1, 4);
    assert_true(find(1, 4, &reading) && reading.mtct.values == 4);
    epop__meter_begin(&meter, 1, 8);
    epop__meter_begin(&meter, 1, 4);
    iterate(1, 1, 4);
    assert_true(find(1, 4, &reading) && reading.mtct.values == 1);
    assert_int_equal(reading.iterations, 5);
}

/* Of the same size: a process that was away, or other ranks in the place of those that left. */
static void another_world_another_window(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, LONG_TICK);
    epop__meter_begin(&meter, 1, 4);
    iterate(3, 1, 4);
    epop__meter_begin(&meter, 2, 4);
    iterate(2, 2, 4);
    epop__meter_world(&meter);
    assert_true(find(1, 4, &reading) && reading.mtct.values == 0 && reading.iterations == 3);
    epop__meter_begin(&meter, 1, 4);
    iterate(2, 1, 4);
    assert_true(find(1, 4, &reading) && reading.mtct.values == 2 && reading.iterations == 5);
    assert_true(find(2, 4, &reading) && reading.mtct.values == 0 && reading.iterations == 2);
}

static void the_window_has_an_end(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, LONG_TICK);
    epop__meter_begin(&meter, 1, 4);
    iterate(METER_WINDOW + 5, 1, 4);
    assert_true(find(1, 4, &reading) && reading.mtct.values == METER_WINDOW);
    assert_int_equal(reading.iterations, METER_WINDOW + 5);
}

static void each_value_asks_for_the_progress(void **state)
{
    struct meter_progress progress;
    int64_t when;
    (void)state;
    assert_false(meter_read_progress(&meter, &when, &progress));
    meter_switch(&meter, true, LONG_TICK);
    epop__meter_begin(&meter, 1, 4);
    assert_true(epop__meter_iteration(&meter, 1, 4));
    epop__meter_progress(&meter, &(struct meter_progress){1, 3, 5, 100});
    assert_true(meter_read_progress(&meter, &when, &progress));
    assert_true(when > 0 && progress.iteration == 5 && progress.bound == 100);
}

/* Whoever asks when the next phase has begun is told where the progress was made. */
static void the_progress_stays_where_it_was_made(void **state)
{
    struct meter_progress progress;
    int64_t when;
    (void)state;
    meter_switch(&meter, true, LONG_TICK);
    epop__meter_begin(&meter, 1, 4);
    epop__meter_progress(&meter, &(struct meter_progress){.pc = 1, .visit = 3, .iteration = 5, .bound = 5});
    epop__meter_begin(&meter, 2, 4);
    epop__meter_iteration(&meter, 2, 4);
    assert_true(meter_read_progress(&meter, &when, &progress));
    assert_true(progress.pc == 1 && progress.visit == 3 && progress.iteration == 5);
}

static void switched_on_again_it_is_new(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    epop__meter_begin(&meter, 1, 4);
    iterate(3, 1, 4);
    meter_switch(&meter, true, SHORT_TICK); /* it is */
    assert_int_equal(count_readings(), 1);
    meter_switch(&meter, false, SHORT_TICK);
    assert_int_equal(count_readings(), 0);
    iterate(1, 1, 4);
    meter_switch(&meter, true, SHORT_TICK);
    assert_int_equal(count_readings(), 0);
    iterate(2, 1, 4);
    assert_true(find(1, 4, &reading) && reading.iterations == 1);
}

/* Those of earlier worlds go; that of the present is there. */
static void more_worlds_than_there_is_room_for(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    for (int size = 1; size <= METER_CELLS + 20; size++) {
        epop__meter_begin(&meter, 1, size);
        iterate(2, 1, size);
        assert_true(find(1, size, &reading) && reading.iterations == 2 && reading.life == size);
    }
    assert_int_equal(count_readings(), METER_CELLS);
    epop__meter_begin(&meter, 1, 1); /* again: of another life than the one that was told */
    iterate(9, 1, 1);
    assert_true(find(1, 1, &reading) && reading.iterations == 9 && reading.life == METER_CELLS + 21);
}

/* None of them goes; of the others there is nothing. */
static void more_elements_than_there_is_room_for(void **state)
{
    struct meter_reading reading;
    (void)state;
    meter_switch(&meter, true, SHORT_TICK);
    for (int round = 1; round <= 2; round++)
        for (int pc = 0; pc < METER_CELLS + 20; pc++) {
            epop__meter_begin(&meter, pc, 4);
            iterate(2, pc, 4);
            assert_int_equal(find(pc, 4, &reading), pc < METER_CELLS);
            assert_true(pc >= METER_CELLS || reading.iterations == 2 * round);
        }
}

/* ---- Two threads ----------------------------------------------------------------------------- */

#define READINGS 20000

static atomic_bool enough;

static bool sums_are_wrong(const struct meter_reading *reading)
{
    return fabs(reading->mpi - (double)reading->iterations * MPI_STEP * SHORT_TICK) > 1e-12;
}

/* Where every iteration is a value. */
static bool is_wrong(const struct meter_reading *reading)
{
    double window = reading->mtct.values * MPI_STEP * SHORT_TICK;
    return sums_are_wrong(reading) || fabs(reading->mtct.mean * reading->mtct.weight - window) > 1e-12;
}

/* Until there have been enough of both. */
static void *read_on(void *wrong)
{
    struct meter_reading reading;
    struct meter_progress progress;
    int64_t when;
    for (int sums = 0, progresses = 0; sums < READINGS || progresses < READINGS;) {
        bool found = find(1, 4, &reading), told = meter_read_progress(&meter, &when, &progress);
        if (found)
            *(int *)wrong += is_wrong(&reading);
        if (told)
            *(int *)wrong += progress.bound != 2 * progress.iteration || progress.visit != 3 * progress.iteration ||
                             progress.pc != progress.iteration % 1000;
        sums += found;
        progresses += told;
        if (!found)
            sched_yield();
        meter_switch(&meter, !found || sums % 100 != 0, LONG_TICK);
    }
    atomic_store(&enough, true);
    return NULL;
}

/* Nothing is left out, however short the iterations are: nobody is taken out of the table meanwhile. How many of them
 * make a value is the clock's matter here. */
static void *look_for_it(void *missed)
{
    struct meter_reading reading;
    for (int i = 0; i < READINGS; i++)
        *(int *)missed += !find(1, 4, &reading) || sums_are_wrong(&reading);
    atomic_store(&enough, true);
    return NULL;
}

static void it_is_always_there(void **state)
{
    pthread_t reader;
    int missed = 0;
    (void)state;
    atomic_store(&enough, false);
    meter_switch(&meter, true, SHORT_TICK);
    epop__meter_begin(&meter, 1, 4);
    assert_int_equal(pthread_create(&reader, NULL, look_for_it, &missed), 0);
    while (!atomic_load(&enough))
        epop__meter_iteration(&meter, 1, 4);
    pthread_join(reader, NULL);
    assert_int_equal(missed, 0);
}

/* What belongs together is read together. */
static void read_while_it_is_written(void **state)
{
    pthread_t reader;
    int wrong = 0;
    (void)state;
    atomic_store(&enough, false);
    assert_int_equal(pthread_create(&reader, NULL, read_on, &wrong), 0);
    for (int64_t i = 1; !atomic_load(&enough); i++)
        if (meter_is_on(&meter) && epop__meter_iteration(&meter, 1, i / 1000 % 2 ? 8 : 4))
            epop__meter_progress(&meter, &(struct meter_progress){(int)(i % 1000), 3 * i, i, 2 * i});
    pthread_join(reader, NULL);
    assert_int_equal(wrong, 0);
}

/* ---- The spread -------------------------------------------------------------------------------- */

static void no_values(void **state)
{
    struct spread spread;
    (void)state;
    spread_of(&spread, NULL, NULL, 0);
    assert_int_equal(spread.values, 0);
    spread_merge(&spread, &(struct spread){0});
    assert_int_equal(spread.values, 0);
}

static void one_value(void **state)
{
    struct spread s;
    (void)state;
    spread_of(&s, (double[]){1}, (double[]){4}, 1);
    assert_int_equal(s.values, 1);
    assert_close(s.mean, 0.25);
    assert_close(s.variance, 0);
    assert_close(s.least, 0.25);
    assert_close(s.most, 0.25);
    assert_close(s.trend, 0.25);
}

static void on_a_line(void **state)
{
    struct spread s;
    (void)state;
    spread_of(&s, (double[]){1, 2, 3, 4}, (double[]){10, 10, 10, 10}, 4);
    assert_close(s.mean, 0.25);
    assert_close(s.variance, 0.0125);
    assert_close(s.least, 0.1);
    assert_close(s.most, 0.4);
    assert_close(s.trend, 0.5);
}

static void no_trend_below_zero(void **state)
{
    struct spread s;
    (void)state;
    spread_of(&s, (double[]){4, 2, 0}, (double[]){10, 10, 10}, 3);
    assert_close(s.trend, 0);
}

/* The mean is all MPI time over all compute time. */
static void longer_ones_count_more(void **state)
{
    struct spread s;
    (void)state;
    spread_of(&s, (double[]){3, 1}, (double[]){1, 9}, 2);
    assert_close(s.mean, 0.4);
    assert_close(s.variance, (1 * (3 - 0.4) * (3 - 0.4) + 9 * (1. / 9 - 0.4) * (1. / 9 - 0.4)) / 10);
}

/* Of two ranks as of one that has all the values. */
static void ranks_together(void **state)
{
    struct spread one, other, all;
    (void)state;
    spread_of(&one, (double[]){1, 2}, (double[]){10, 20}, 2);
    spread_of(&other, (double[]){5, 1, 3}, (double[]){2, 4, 30}, 3);
    spread_of(&all, (double[]){1, 2, 5, 1, 3}, (double[]){10, 20, 2, 4, 30}, 5);
    double trend = (30 * one.trend + 36 * other.trend) / 66;
    spread_merge(&one, &other);
    assert_int_equal(one.values, 5);
    assert_close(one.mean, all.mean);
    assert_close(one.variance, all.variance);
    assert_close(one.least, all.least);
    assert_close(one.most, all.most);
    assert_close(one.trend, trend);
}

/* One that only waits has a ratio that can be written down. */
static void no_compute_time(void **state)
{
    struct spread s;
    (void)state;
    spread_of(&s, (double[]){1, 1}, (double[]){0, 0}, 2);
    assert_true(isfinite(s.mean) && s.mean > 1e6 && isfinite(s.trend) && isfinite(s.variance));
}

static void told_and_read(void **state)
{
    struct spread s, again;
    (void)state;
    spread_of(&s, (double[]){1, 2, 4}, (double[]){10, 20, 10}, 3);
    cJSON *json = json_message(REPORT(gauge)), *element = cJSON_CreateObject();
    struct message message;
    struct error why;
    static const char *const numbers[] = {"pc", "life", "iterations", "loop", "mpi"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(element, numbers[i], 0);
    cJSON_AddNumberToObject(element, "size", 1);
    cJSON_AddItemToObject(element, "mtct", spread_to_message(&s));
    cJSON_AddNumberToObject(json, "round", 1);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "elements"), element);
    assert_true(message_decode(&message, KIND_REPORT, json, &why));
    spread_from_message(&again, ((const struct report_gauge *)message.is)->elements.items[0].mtct);
    message_free(&message);
    cJSON_Delete(json);
    assert_int_equal(again.values, 3);
    assert_close(again.weight, s.weight);
    assert_close(again.mean, s.mean);
    assert_close(again.variance, s.variance);
    assert_close(again.least, s.least);
    assert_close(again.most, s.most);
    assert_close(again.trend, s.trend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(off_there_is_nothing),
        TEST(iterations_are_counted),
        TEST(the_first_only_begins),
        TEST(elements_and_sizes_are_apart),
        TEST(sums_go_on_and_the_window_does_not),
        TEST(the_window_has_an_end),
        TEST(each_value_asks_for_the_progress),
        TEST(the_progress_stays_where_it_was_made),
        TEST(switched_on_again_it_is_new),
        TEST(another_world_another_window),
        TEST(more_worlds_than_there_is_room_for),
        TEST(more_elements_than_there_is_room_for),
        TEST(read_while_it_is_written),
        TEST(it_is_always_there),
        TEST(no_values),
        TEST(one_value),
        TEST(on_a_line),
        TEST(no_trend_below_zero),
        TEST(longer_ones_count_more),
        TEST(ranks_together),
        TEST(no_compute_time),
        TEST(told_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
