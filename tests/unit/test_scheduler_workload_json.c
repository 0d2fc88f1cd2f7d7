/* JSON workloads: what they become, and what is drawn. What is refused is in tests/run/scheduler/test_epopsim.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/workload/workload_json.h"

#define DOCUMENT(nodes, rest)                                                                                          \
    "{\"schema\": \"epop.workload\", \"version\": 1, \"machine\": {\"nodes\": " #nodes "}, " rest "}"
#define PHASES "\"phases\": [{\"seconds\": 8}]"

static int read_text(struct workload *workload, const char *text, int nodes, const uint64_t *seed, struct error *error)
{
    char copy[4000];
    struct input input = {.name = "here/jobs.json", .text = copy, .size = strlen(text)};
    snprintf(copy, sizeof copy, "%s", text);
    return workload_json_read(workload, &input, nodes, NULL, seed, error);
}

static void taken(struct workload *workload, const char *text)
{
    struct error error = {0};
    if (read_text(workload, text, 0, NULL, &error))
        fail_msg("%s", error.text);
}

static void refused(const char *text, const char *what)
{
    struct workload workload;
    struct error error = {0};
    assert_int_equal(read_text(&workload, text, 0, NULL, &error), -1);
    assert_int_equal(workload.count, 0);
    if (!strstr(error.text, what) || strchr(error.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", error.text, what);
}

static void defaults(void **state)
{
    struct workload workload;
    (void)state;
    taken(&workload, DOCUMENT(16, "\"jobs\": [{\"nodes\": 4, " PHASES "}]"));
    const struct work *work = workload.works;
    assert_string_equal(workload.name, "jobs.json");
    assert_string_equal(workload.notes, "");
    assert_int_equal(workload.nodes, 16);
    assert_int_equal(work->id, 1);
    assert_string_equal(work->name, "job");
    assert_int_equal(work->kind, EPOP_RIGID);
    assert_int_equal(work->range.min, 4);
    assert_int_equal(work->range.max, 4);
    assert_true(work->progress);
    assert_true(work->phases[0].elastic);
    assert_int_equal(work->phases[0].range.max, 0);
    assert_float_equal(work->submit, 0, 0);
    assert_float_equal(work->limit, 2, 1e-12);
    workload_free(&workload);
}

static void what_a_job_says_goes_first(void **state)
{
    struct workload workload;
    (void)state;
    taken(&workload,
          DOCUMENT(16, "\"applications\": {\"a\": {\"kind\": \"malleable\", \"nodes\": 8, \"max\": 12, \"bytes\": 5, "
                       "\"progress\": false, " PHASES "}},"
                       "\"jobs\": [{\"application\": \"a\", \"submit\": 9}, {\"application\": \"a\", \"nodes\": 4, "
                       "\"min\": 2, \"max\": 6, \"name\": \"b\", \"limit\": 70, \"user\": 3, \"scale\": 2, "
                       "\"progress\": true}]"));
    const struct work *first = &workload.works[1], *second = &workload.works[0]; /* by submission */
    assert_int_equal(first->id, 1);
    assert_string_equal(first->name, "a");
    assert_int_equal(first->wanted, 8);
    assert_int_equal(first->range.min, 1);
    assert_int_equal(first->range.max, 12);
    assert_false(first->progress);
    assert_float_equal(first->bytes, 5, 0);
    assert_string_equal(second->name, "b");
    assert_int_equal(second->range.min, 2);
    assert_int_equal(second->range.max, 6);
    assert_int_equal(second->user, 3);
    assert_float_equal(second->limit, 70, 0);
    assert_float_equal(work_seconds(second, 4), 4, 1e-12);
    assert_true(second->progress);
    workload_free(&workload);
}

static void sizes_are(const char *rule, const int *expected, int count)
{
    struct workload workload;
    char text[1000];
    snprintf(
        text, sizeof text,
        DOCUMENT(40, "\"jobs\": [{\"kind\": \"malleable\", \"nodes\": 16, \"max\": 31, \"sizes\": %s, " PHASES "}]"),
        rule);
    taken(&workload, text);
    const epop_policy_range_t *range = &workload.works[0].range;
    assert_int_equal(range->count, count);
    assert_memory_equal(range->sizes, expected, (size_t)count * sizeof *expected);
    assert_int_equal(range->min, expected[0]);
    assert_int_equal(range->max, expected[count - 1]);
    workload_free(&workload);
}

static void rules_become_sizes(void **state)
{
    static const int squares[] = {1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 16, 19, 21, 23, 25, 28, 31};
    static const int powers[] = {1, 2, 4, 8, 16}, multiples[] = {8, 16, 24}, list[] = {2, 16};
    (void)state;
    sizes_are("{\"square_processes\": {\"cores\": 16}}", squares, 18);
    sizes_are("{\"powers_of\": 2}", powers, 5);
    sizes_are("{\"multiples_of\": 8}", multiples, 3);
    sizes_are("[2, 16, 32]", list, 2);
}

static void weak_scaling(void **state)
{
    struct workload workload;
    (void)state;
    taken(&workload,
          DOCUMENT(16, "\"jobs\": [{\"nodes\": 4, \"phases\": [{\"seconds\": 3, \"scaling\": \"weak\", \"speedup\": "
                       "{\"model\": \"amdahl\", \"serial\": 0.1}}, {\"seconds\": 3, \"scaling\": \"strong\"}]}]"));
    const struct phase *phases = workload.works->phases;
    assert_true(phases[0].weak && !phases[1].weak);
    assert_float_equal(phase_iteration(&phases[0], 1), 3, 1e-12);
    assert_float_equal(phase_iteration(&phases[0], 4), 3 * 1.3, 1e-12); /* 4 times the work, 4 / 1.3 times as fast */
    assert_float_equal(workload.works->limit, 3 * 1.3 + 0.75, 1e-12);
    workload_free(&workload);
    refused(DOCUMENT(9, "\"jobs\": [{\"nodes\": 2, \"phases\": [{\"seconds\": 1, \"scaling\": \"none\"}]}]"),
            "jobs[0].phases[0].scaling");
}

static void sizes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    refused(DOCUMENT(9, "\"jobs\": [{\"kind\": \"malleable\", \"nodes\": 2, \"sizes\": [4, 2], " PHASES "}]"),
            "jobs[0].sizes[1]: must be a whole number above 4");
    refused(DOCUMENT(9, "\"jobs\": [{\"kind\": \"malleable\", \"nodes\": 2, \"sizes\": {\"multiples_of\": 10}, " PHASES
                        "}]"),
            "jobs[0].sizes: has no size from 1 to 9");
    refused(DOCUMENT(9, "\"jobs\": [{\"kind\": \"malleable\", \"nodes\": 2, \"min\": 5, \"max\": 4, " PHASES "}]"),
            "jobs[0].max: is 4, below the job's min, 5");
    refused(DOCUMENT(9, "\"jobs\": [{\"kind\": \"malleable\", \"nodes\": 2, \"max\": 10, " PHASES "}]"),
            "jobs[0].max: is 10, and the machine has 9");
    refused(DOCUMENT(9, "\"jobs\": [{\"nodes\": 2, \"phases\": [{\"seconds\": 1, \"min\": 3}]}]"),
            "jobs[0].phases[0]: accepts none of its job's sizes (2 to 2)");
    refused(DOCUMENT(9, "\"jobs\": [{\"nodes\": 2, \"phases\": [{\"seconds\": 1, \"speedup\": {\"model\": \"table\", "
                        "\"points\": [{\"nodes\": 2, \"speedup\": 1}, {\"nodes\": 1, \"speedup\": 1}]}}]}]"),
            "jobs[0].phases[0].speedup.points[1].nodes: is 1: it must be 3 at least");
}

#define RANDOM                                                                                                         \
    DOCUMENT(64, "\"applications\": {\"a\": {\"kind\": \"malleable\", " PHASES "}},"                                   \
                 "\"jobs\": [{\"id\": 41, \"nodes\": 1, " PHASES "}],"                                                 \
                 "\"random\": {\"count\": 400, \"interarrival\": 10, \"users\": 3, \"mix\": ["                         \
                 "{\"application\": \"a\", \"weight\": 3, \"nodes\": [8, 16], \"scale\": [1, 2]},"                     \
                 "{\"application\": \"a\", \"name\": \"b\", \"nodes\": 4}]}")

static void check_drawn(const struct work *work, int *named)
{
    bool b = !strcmp(work->name, "b");
    double scale = work_seconds(work, work->wanted) * work->wanted / 8;
    *named += b;
    assert_true(work->id > 41 && work->id <= 441);
    assert_true(b ? work->wanted == 4 : work->wanted == 8 || work->wanted == 16);
    assert_true(b ? scale > 0.999 && scale < 1.001 : scale >= 0.999 && scale <= 2.001);
    assert_in_range(work->user, 0, 2);
}

static void jobs_are_drawn_from_the_mix(void **state)
{
    struct workload workload;
    int named = 0;
    (void)state;
    taken(&workload, RANDOM);
    assert_int_equal(workload.count, 401);
    for (size_t i = 0; i < workload.count; i++)
        if (workload.works[i].id != 41)
            check_drawn(&workload.works[i], &named);
    assert_in_range(named, 60, 140);
    assert_in_range((uintmax_t)workload.works[400].submit, 3200, 4800);
    workload_free(&workload);
}

static void draws_follow_the_seed(void **state)
{
    struct workload one, two, other;
    struct error error;
    uint64_t seed = 1;
    (void)state;
    taken(&one, RANDOM);
    assert_int_equal(read_text(&two, RANDOM, 0, &seed, &error), 0);
    seed = 2;
    assert_int_equal(read_text(&other, RANDOM, 0, &seed, &error), 0);
    assert_true(one.works[400].submit == two.works[400].submit);
    assert_true(one.works[400].submit != other.works[400].submit);
    workload_free(&one);
    workload_free(&two);
    workload_free(&other);
}

static void fixed_arrivals(void **state)
{
    struct workload workload;
    (void)state;
    taken(&workload,
          DOCUMENT(
              4,
              "\"random\": {\"count\": 3, \"interarrival\": 7, \"arrival\": \"fixed\", \"mix\": [{\"nodes\": 1, " PHASES
              "}]}"));
    assert_float_equal(workload.works[0].submit, 0, 0);
    assert_float_equal(workload.works[2].submit, 14, 0);
    workload_free(&workload);
}

static void mixes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    refused(DOCUMENT(4,
                     "\"random\": {\"count\": 3, \"interarrival\": 7, \"mix\": [{\"weight\": 0, \"nodes\": 1, " PHASES
                     "}]}"),
            "random.mix: all weights are 0");
    refused(DOCUMENT(4, "\"random\": {\"count\": 3, \"interarrival\": 7, \"mix\": [{\"nodes\": [1, 0], " PHASES "}]}"),
            "random.mix[0].nodes[1]: is no number above 0");
    refused(DOCUMENT(4,
                     "\"random\": {\"count\": 3, \"interarrival\": 7, \"mix\": [{\"nodes\": 1, \"scale\": [1], " PHASES
                     "}]}"),
            "random.mix[0].scale: must be a number, or the least and the most");
}

static void the_machine_of_the_command_line_goes_first(void **state)
{
    struct workload workload;
    struct error error;
    (void)state;
    assert_int_equal(read_text(&workload, DOCUMENT(4, "\"jobs\": [{\"nodes\": 9, " PHASES "}]"), 10, NULL, &error), 0);
    assert_int_equal(workload.nodes, 10);
    workload_free(&workload);
    refused(DOCUMENT(4, "\"jobs\": [{\"nodes\": 9, " PHASES "}]"),
            "jobs.json: jobs[0].nodes: is 9, and the machine has 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(what_a_job_says_goes_first),
        cmocka_unit_test(rules_become_sizes),
        cmocka_unit_test(weak_scaling),
        cmocka_unit_test(sizes_that_make_no_sense_are_refused),
        cmocka_unit_test(jobs_are_drawn_from_the_mix),
        cmocka_unit_test(draws_follow_the_seed),
        cmocka_unit_test(fixed_arrivals),
        cmocka_unit_test(mixes_that_make_no_sense_are_refused),
        cmocka_unit_test(the_machine_of_the_command_line_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
