/* What is kept of what is measured: by element and size, of the recent past, until the program changes. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/core/sample.h"

static struct samples samples;

static int tear_down(void **state)
{
    (void)state;
    samples_free(&samples);
    return 0;
}

/* So many seconds of iterations at that size, told once in a second. */
static double run(int phase, int size, double seconds, double of_one, double mtct)
{
    double change = 0;
    samples_at(&samples, size);
    for (int i = 0; i < (int)seconds && !(change > 0); i++) {
        epop_policy_sample_t more = {
            .phase = phase, .nodes = size, .iterations = 1 / of_one, .seconds = of_one, .mtct = mtct, .trend = mtct};
        assert_int_equal(samples_reserve(&samples), 0);
        change = samples_add(&samples, &more);
    }
    return change;
}

static const epop_policy_sample_t *at(int phase, int size)
{
    for (int i = 0; i < samples.count; i++)
        if (samples.items[i].phase == phase && samples.items[i].nodes == size)
            return &samples.items[i];
    return NULL;
}

static void test_each_size_keeps_what_was_measured_there(void **state)
{
    (void)state;
    run(0, 4, 20, 0.125, 0.5);
    run(0, 2, 20, 0.25, 0.05);
    assert_true(at(0, 4)->mtct == 0.5 && at(0, 4)->seconds == 0.125 && at(0, 4)->iterations == 160);
    assert_true(at(0, 2)->mtct == 0.05 && at(0, 2)->seconds == 0.25);
    run(0, 4, 2, 0.125, -1); /* another stay; its MTCT is not known yet */
    assert_true(at(0, 4)->iterations == 16 && at(0, 4)->mtct == 0.5);
}

static void test_the_mean_is_of_the_recent_past(void **state)
{
    (void)state;
    assert_true(run(0, 4, 1000, 0.01, 0.1) == 0);
    assert_true(run(0, 4, 30, 0.013, 0.2) == 0); /* slower, but not another program */
    assert_true(at(0, 4)->seconds > 0.0125 && at(0, 4)->mtct == 0.2);
}

static void test_a_program_that_changes_is_measured_anew(void **state)
{
    (void)state;
    run(1, 8, 20, 0.01, 0);
    run(0, 8, 20, 0.01, 2);
    run(0, 4, 100, 0.0086, 0);
    double change = run(0, 4, 30, 0.0204, 0); /* 116 iterations in a second, then 49 */
    assert_true(change > SAMPLE_CHANGE && change < 2.4);
    assert_null(at(0, 8));
    assert_non_null(at(1, 8));
    run(0, 4, 30, 0.0204, 0);
    assert_true(fabs(at(0, 4)->seconds - 0.0204) < 1e-12);
}

static void test_slow_first_iterations_are_no_change(void **state)
{
    (void)state;
    run(0, 8, 20, 0.01, 2);
    run(0, 4, 1, 0.5, 0);
    assert_true(run(0, 4, 60, 0.05, 0) == 0);
    assert_non_null(at(0, 8));
}

static void keep(void *context, const epop_policy_sample_t *sample)
{
    (void)context;
    assert_int_equal(samples_reserve(&samples), 0);
    samples_add(&samples, sample);
}

static void test_what_jobs_tell(void **state)
{
    (void)state;
    cJSON *measure =
        cJSON_Parse("{\"elements\":[{\"pc\":1,\"size\":4,\"iterations\":10,\"rate\":5,\"mtct\":{\"values\":1,"
                    "\"mean\":0.5,\"trend\":0.25}},{\"pc\":2,\"size\":4,\"iterations\":0}],"
                    "\"loops\":[{\"number\":3,\"size\":2,\"iterations\":4,\"rate\":2,\"mtct\":{\"values\":0}}]}");
    cJSON *status = cJSON_Parse("{\"elements\":[{\"pc\":1,\"speeds\":[{\"size\":8,\"iterations\":10,\"rate\":10}]}]}");
    samples_read(measure, keep, NULL);
    assert_int_equal(samples.count, 2);
    assert_true(at(1, 4)->seconds == 0.2 && at(1, 4)->mtct == 0.5 && at(1, 4)->trend == 0.25);
    assert_true(at(EPOP_POLICY_LOOPS + 3, 2)->iterations == 4 && at(EPOP_POLICY_LOOPS + 3, 2)->mtct == -1);
    samples_read_speeds(status, keep, NULL);
    assert_true(at(1, 8)->seconds == 0.1 && at(1, 8)->mtct == -1);
    cJSON_Delete(measure);
    cJSON_Delete(status);
}

/* Iterations of one rank, of which one of four has four: as long at every size is twice as fast with twice as many. */
static void test_what_jobs_with_weak_scaling_tell(void **state)
{
    bool weak = false;
    (void)state;
    cJSON *measure =
        cJSON_Parse("{\"elements\":[{\"pc\":1,\"size\":4,\"iterations\":10,\"rate\":5,\"scaling\":\"weak\"}],"
                    "\"loops\":[{\"number\":3,\"size\":2,\"iterations\":4,\"rate\":2,\"scaling\":"
                    "\"weak-work\"}]}");
    cJSON *status =
        cJSON_Parse("{\"element\":{\"pc\":1,\"type\":\"EP\"},\"elements\":[{\"pc\":1,\"type\":\"EP\",\"scaling\":"
                    "\"weak\",\"speeds\":[{\"size\":8,\"iterations\":10,\"rate\":5}]}]}");
    samples_read(measure, keep, NULL);
    samples_read_speeds(status, keep, NULL);
    assert_true(at(1, 4)->seconds == 0.05 && at(1, 4)->iterations == 40);
    assert_true(at(EPOP_POLICY_LOOPS + 3, 2)->seconds == 0.25 && at(EPOP_POLICY_LOOPS + 3, 2)->iterations == 8);
    assert_true(at(1, 8)->seconds == 0.025);
    assert_true(weak_read(&weak, status) && weak);
    cJSON_Delete(measure);
    cJSON_Delete(status);
}

static void test_which_phase_has_weak_scaling(void **state)
{
    static const struct {
        const char *status;
        int weak; /* -1: it is in no phase */
    } rows[] = {
        {"{\"element\":{\"pc\":0},\"elements\":[{\"pc\":0,\"type\":\"EP\",\"scaling\":\"weak\"}]}", 1},
        {"{\"element\":{\"pc\":0},\"elements\":[{\"pc\":0,\"type\":\"EP\",\"scaling\":\"weak-work\"}]}", 0},
        {"{\"element\":{\"pc\":0},\"elements\":[{\"pc\":0,\"type\":\"RP\"}]}", 0},
        {"{\"element\":{\"pc\":0},\"elements\":[{\"pc\":0,\"type\":\"BRANCH\",\"scaling\":\"weak\"}]}", -1},
        {"{\"element\":null,\"elements\":[{\"pc\":0,\"type\":\"EP\",\"scaling\":\"weak\"}]}", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool weak = rows[i].weak != 1;
        cJSON *status = cJSON_Parse(rows[i].status);
        assert_int_equal(weak_read(&weak, status), rows[i].weak >= 0);
        if (rows[i].weak >= 0)
            assert_int_equal(weak, rows[i].weak);
        cJSON_Delete(status);
    }
}

static void assert_hints(const char *status, int least, int most, int preferred, const char *said)
{
    cJSON *json = cJSON_Parse(status);
    struct hints hints = hints_read(json);
    char text[HINTS_TEXT];
    assert_true(hints_same(&hints, &(struct hints){least, most, preferred}));
    assert_int_equal(hints_text(&hints, text), said != NULL);
    if (said)
        assert_string_equal(text, said);
    cJSON_Delete(json);
}

static void test_what_process_sets_ask_for(void **state)
{
    (void)state;
    assert_hints("{}", 1, INT_MAX, 0, NULL);
    assert_hints("{\"hints\":{\"min\":4,\"max\":12,\"preferred\":8}}", 4, 12, 8,
                 "its process sets ask for 4 to 12 ranks, rather 8");
    assert_hints("{\"hints\":{\"min\":4}}", 4, INT_MAX, 0, "its process sets ask for 4 or more ranks");
}

static void remember(int phase, int size, double of_one)
{
    epop_policy_sample_t earlier = {.phase = phase, .nodes = size, .iterations = 100, .seconds = of_one, .mtct = 0.5};
    assert_int_equal(samples_reserve(&samples), 0);
    samples_remember(&samples, &earlier);
}

static void test_an_earlier_job_counts_until_there_are_own_figures(void **state)
{
    (void)state;
    assert_int_equal(samples_main_phase(&samples), -1);
    remember(1, 4, 0.1);
    remember(2, 4, 0.25);
    remember(1, 8, 0.1);
    assert_int_equal(samples_main_phase(&samples), 2); /* 25 s, and twice 10 s */
    assert_true(run(1, 4, 20, 0.11, 0.2) == 0);        /* about as fast as then */
    assert_true(at(1, 4)->iterations < 200 && at(1, 4)->mtct == 0.2 && at(1, 8)->mtct == 0.5);
}

static void test_an_earlier_job_that_was_another_program(void **state)
{
    (void)state;
    remember(1, 4, 0.1);
    remember(1, 8, 0.1);
    remember(2, 8, 0.1);
    assert_true(run(1, 4, 20, 0.5, 0.2) == 5);
    assert_null(at(1, 8));
    assert_non_null(at(2, 8)); /* of it nothing was seen yet */
}

static void read_left(const char *text, bool told, double expected)
{
    cJSON *status = cJSON_Parse(text);
    double left;
    assert_int_equal(left_read(&left, status), told);
    if (told)
        assert_true(left == expected);
    cJSON_Delete(status);
}

static void test_the_time_left(void **state)
{
    (void)state;
    read_left("{\"element\":{\"pc\":1,\"type\":\"EP\"},\"next\":{\"type\":\"RP\",\"seconds\":7}}", true, 7);
    read_left("{\"element\":{\"pc\":1,\"type\":\"RP\"},\"next\":{\"type\":\"EP\"}}", true, -1);
    read_left("{\"element\":{\"pc\":2,\"type\":\"RP\"},\"next\":{\"type\":\"END\"}}", false, 0);
    read_left("{\"element\":{\"pc\":2,\"type\":\"BRANCH\"},\"next\":null}", false, 0);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_size_keeps_what_was_measured_there),
        TEST(test_the_mean_is_of_the_recent_past),
        TEST(test_a_program_that_changes_is_measured_anew),
        TEST(test_slow_first_iterations_are_no_change),
        TEST(test_an_earlier_job_counts_until_there_are_own_figures),
        TEST(test_an_earlier_job_that_was_another_program),
        TEST(test_what_jobs_tell),
        TEST(test_what_jobs_with_weak_scaling_tell),
        TEST(test_which_phase_has_weak_scaling),
        TEST(test_what_process_sets_ask_for),
        TEST(test_the_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
