/* The policy ers, its arithmetic: ranges from MTCT, and time balancing beside the published linear systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/policies/ers_model.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const int squares[] = {1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 16, 19, 21, 23, 25, 28, 31};
static struct ers_settings *settings;

static int set_up(void **state)
{
    (void)state;
    settings = ers_settings_new();
    return settings ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ers_settings_free(settings);
    return 0;
}

static epop_policy_job_t runs(int nodes, int min, int max)
{
    return (epop_policy_job_t){.kind = EPOP_MALLEABLE,
                               .state = EPOP_POLICY_RUNS,
                               .range = {.min = min, .max = max},
                               .nodes = nodes,
                               .target = nodes,
                               .left = 1000};
}

static epop_policy_sample_t measured(int nodes, double mtct, double trend)
{
    return (epop_policy_sample_t){.nodes = nodes, .iterations = 10, .seconds = 1, .mtct = mtct, .trend = trend};
}

static struct ers_range range_of(epop_policy_job_t job, const epop_policy_sample_t *samples, int count)
{
    job.samples = samples;
    job.sample_count = count;
    return ers_range_of(settings, &job, 100);
}

static struct ers_range range_at(epop_policy_job_t job, double mtct, double trend)
{
    epop_policy_sample_t sample = measured(job.nodes, mtct, trend);
    return range_of(job, &sample, 1);
}

static void assert_range(struct ers_range range, enum ers_verdict verdict, int low, int high)
{
    assert_int_equal(range.verdict, verdict);
    assert_int_equal(range.low, low);
    assert_int_equal(range.high, high);
}

/* Mean and trend: each below, in and above the band. */
static void test_thresholds(void **state)
{
    static const double at[] = {0.005, 0.05, 0.5};
    (void)state;
    for (int mean = 0; mean < 3; mean++) {
        for (int trend = 0; trend < 3; trend++) {
            struct ers_range range = range_at(runs(16, 1, 64), at[mean], at[trend]);
            if (mean == 2 || trend == 2)
                assert_range(range, ERS_REDUCED, 8, 8);
            else if (mean == 1 || trend == 1)
                assert_range(range, ERS_STAYS, 16, 16);
            else
                assert_range(range, ERS_FREE, 8, 32);
        }
    }
}

/* Above and below is what is more and less. */
static void test_on_a_threshold_is_in_the_band(void **state)
{
    (void)state;
    assert_range(range_at(runs(16, 1, 64), 0.1, 0.1), ERS_STAYS, 16, 16);
    assert_range(range_at(runs(16, 1, 64), 0.01, 0.01), ERS_STAYS, 16, 16);
}

static void test_thresholds_are_options(void **state)
{
    (void)state;
    assert_int_equal(ers_settings_set(settings, "upper", "0.5"), 0);
    assert_range(range_at(runs(16, 1, 64), 0.2, 0.2), ERS_STAYS, 16, 16);
    assert_int_equal(ers_settings_set(settings, "lower", "0.3"), 0);
    assert_range(range_at(runs(16, 1, 64), 0.2, 0.2), ERS_FREE, 8, 32);
}

static void test_halving_ends_at_the_least(void **state)
{
    (void)state;
    assert_range(range_at(runs(16, 1, 64), 1, 1), ERS_REDUCED, 8, 8);
    assert_range(range_at(runs(5, 1, 64), 1, 1), ERS_REDUCED, 2, 2);
    assert_range(range_at(runs(16, 8, 64), 1, 1), ERS_REDUCED, 8, 8);
    assert_range(range_at(runs(16, 12, 64), 1, 1), ERS_REDUCED, 12, 12);
    assert_range(range_at(runs(12, 12, 64), 1, 1), ERS_STAYS, 12, 12);
    assert_range(range_at(runs(1, 1, 64), 1, 1), ERS_STAYS, 1, 1);
}

static void test_a_range_has_accepted_sizes_alone(void **state)
{
    epop_policy_job_t job = runs(16, 1, 31);
    (void)state;
    job.range = (epop_policy_range_t){1, 31, squares, COUNT(squares)};
    assert_range(range_at(job, 1, 1), ERS_REDUCED, 8, 8);
    assert_range(range_at(job, 0, 0), ERS_FREE, 8, 31);
    job.nodes = 11;
    assert_range(range_at(job, 1, 1), ERS_REDUCED, 4, 4);
    assert_range(range_at(job, 0, 0), ERS_FREE, 4, 21);
    job.range = (epop_policy_range_t){11, 31, squares + 8, COUNT(squares) - 8};
    job.nodes = 13;
    assert_range(range_at(job, 1, 1), ERS_REDUCED, 11, 11);
}

static void test_the_phase_has_its_own_sizes(void **state)
{
    epop_policy_job_t job = runs(16, 1, 64);
    epop_policy_phase_t phase = {.elastic = 1, .range = {4, 20, NULL, 0}};
    (void)state;
    job.phases = &phase;
    job.phase_count = 1;
    assert_range(range_at(job, 0, 0), ERS_FREE, 8, 20);
    assert_int_equal(ers_least(&job), 4);
    job.range = (epop_policy_range_t){1, 31, squares, COUNT(squares)};
    assert_range(range_at(job, 0, 0), ERS_FREE, 8, 19);
    phase.elastic = 0;
    assert_range(range_at(job, 1, 1), ERS_UNKNOWN, 16, 16);
}

static void test_sizes_that_two_lists_have_in_common(void **state)
{
    static const int threes[] = {3, 9, 12, 21, 27};
    epop_policy_phase_t phase = {.elastic = 1, .range = {3, 27, threes, COUNT(threes)}};
    epop_policy_job_t job = runs(16, 2, 31);
    (void)state;
    job.range = (epop_policy_range_t){2, 31, squares + 1, COUNT(squares) - 1};
    job.phases = &phase;
    job.phase_count = 1;
    assert_int_equal(ers_fit(&job, 31), 21);
    assert_int_equal(ers_fit(&job, 20), 9);
    assert_int_equal(ers_fit(&job, 8), 3);
    assert_int_equal(ers_fit(&job, 2), 0);
    assert_int_equal(ers_least(&job), 3);
}

/* Started on fewer nodes than its user wanted: it may have those unless it was above the upper threshold there. */
static void test_a_small_start_is_made_good(void **state)
{
    epop_policy_sample_t samples[] = {measured(4, 0.05, 0.05), measured(16, 0.3, 0.3)};
    epop_policy_job_t job = runs(4, 1, 64);
    (void)state;
    job.wanted = 16;
    assert_range(range_at(job, 0.001, 0.001), ERS_FREE, 2, 16);
    assert_range(range_of(job, samples, 1), ERS_FREE, 4, 16);
    assert_range(range_of(job, samples, 2), ERS_STAYS, 4, 4);
    assert_range(range_at(job, 0.2, 0.2), ERS_REDUCED, 2, 2);
}

/* A size at which it was above the upper threshold is not tried again: no endless cycle of growth and reduction. */
static void test_what_was_inefficient_is_remembered(void **state)
{
    epop_policy_sample_t samples[] = {measured(16, 0.001, 0.001), measured(24, 0.3, 0.3), measured(28, 0.3, 0.3)};
    (void)state;
    assert_range(range_of(runs(16, 1, 64), samples, 1), ERS_FREE, 8, 32);
    assert_range(range_of(runs(16, 1, 64), samples, 3), ERS_FREE, 8, 23);
    samples[1].phase = samples[2].phase = 1;
    assert_range(range_of(runs(16, 1, 64), samples, 3), ERS_FREE, 8, 32);
}

static int wanted_with(const epop_policy_sample_t *samples, int count)
{
    epop_policy_job_t job = {.kind = EPOP_MALLEABLE, .range = {.min = 1, .max = 16}, .wanted = 16};
    job.samples = samples;
    job.sample_count = count;
    return ers_wanted(settings, &job);
}

static void test_one_that_waits_starts_where_it_was_efficient(void **state)
{
    const epop_policy_sample_t fine[] = {measured(16, 0.05, 0.05)};
    const epop_policy_sample_t poor[] = {measured(16, 0.5, 0.5)};
    const epop_policy_sample_t known[] = {measured(16, 0.5, 0.5), measured(8, 0.2, 0.2), measured(5, 0.05, 0.05)};
    epop_policy_job_t rigid = {.kind = EPOP_RIGID, .range = {.min = 16, .max = 16}, .wanted = 16};
    (void)state;
    assert_int_equal(wanted_with(NULL, 0), 16);
    assert_int_equal(wanted_with(fine, 1), 16);
    assert_int_equal(wanted_with(poor, 1), 8); /* half, as one that runs */
    assert_int_equal(wanted_with(known, 3), 5);
    assert_int_equal(wanted_with(known, 2), 4);
    rigid.samples = poor;
    rigid.sample_count = 1;
    assert_int_equal(ers_wanted(settings, &rigid), 16);
}

static void test_without_data_there_is_no_range(void **state)
{
    epop_policy_sample_t sample = measured(16, 1, 1);
    epop_policy_job_t job = runs(16, 1, 64);
    (void)state;
    assert_range(range_of(job, NULL, 0), ERS_UNKNOWN, 16, 16);
    sample.iterations = 2;
    assert_range(range_of(job, &sample, 1), ERS_UNKNOWN, 16, 16);
    ers_settings_set(settings, "values", "2");
    assert_range(range_of(job, &sample, 1), ERS_REDUCED, 8, 8);
    sample.phase = 1;
    assert_range(range_of(job, &sample, 1), ERS_UNKNOWN, 16, 16);
    sample = measured(8, 1, 1);
    assert_range(range_of(job, &sample, 1), ERS_UNKNOWN, 16, 16);
    sample = measured(16, -1, -1);
    assert_range(range_of(job, &sample, 1), ERS_UNKNOWN, 16, 16);
}

/* Ten iterations of a second were not measured in the four since it came back to this size. */
static void test_averages_begin_anew_with_a_resize(void **state)
{
    epop_policy_sample_t sample = measured(16, 1, 1);
    epop_policy_job_t job = runs(16, 1, 64);
    (void)state;
    job.resized = 96;
    assert_range(range_of(job, &sample, 1), ERS_UNKNOWN, 16, 16);
    job.resized = 90;
    assert_range(range_of(job, &sample, 1), ERS_REDUCED, 8, 8);
}

static void test_only_what_runs_and_can_be_resized(void **state)
{
    epop_policy_job_t job = runs(16, 1, 64);
    (void)state;
    job.state = EPOP_POLICY_ADAPTS;
    assert_range(range_at(job, 1, 1), ERS_UNKNOWN, 16, 16);
    job.state = EPOP_POLICY_RUNS;
    job.kind = EPOP_MOLDABLE;
    assert_range(range_at(job, 1, 1), ERS_UNKNOWN, 16, 16);
}

static void test_what_an_evolving_job_asks_for(void **state)
{
    epop_policy_job_t job = runs(16, 2, 64);
    (void)state;
    job.kind = EPOP_EVOLVING;
    assert_range(range_at(job, 1, 1), ERS_REDUCED, 8, 8);
    job.asked = 20;
    assert_range(range_at(job, 1, 1), ERS_FREE, 16, 20);
    job.asked = 1;
    assert_range(range_at(job, 0, 0), ERS_REDUCED, 2, 2);
    job.asked = 16;
    assert_range(range_at(job, 1, 1), ERS_STAYS, 16, 16);
}

static void test_the_cost_is_the_mean_of_the_job_s_own(void **state)
{
    epop_policy_state_t world = {.resize_base = 1, .resize_per_node = 0.5, .resize_per_byte = 0.25};
    epop_policy_job_t job = runs(4, 1, 8);
    (void)state;
    job.bytes = 16;
    assert_true(ers_cost(&world, &job) == 1 + 0.5 * 8 + 0.25 * 16 / 2);
    job.resizes = 1;
    job.resize_latency = 7;
    job.resize_cost = 3;
    assert_true(ers_cost(&world, &job) == 7);
}

/* ---- Time balancing ------------------------------------------------------------------------ */

/* Of a matrix in augmented form, with the rows in an order that does not matter to the solution. */
static void eliminate(int n, double rows[][6])
{
    for (int column = 0; column < n; column++) {
        int best = column;
        for (int row = column; row < n; row++)
            best = fabs(rows[row][column]) > fabs(rows[best][column]) ? row : best;
        for (int k = 0; k <= n; k++) {
            double kept = rows[column][k];
            rows[column][k] = rows[best][k];
            rows[best][k] = kept;
        }
        for (int row = 0; row < n; row++) {
            double factor = row == column ? 0 : rows[row][column] / rows[column][column];
            for (int k = 0; k <= n; k++)
                rows[row][k] -= factor * rows[column][k];
        }
    }
}

/* Equations 10.4 to 10.6: t(i) and n(i) make up the matrix; its solution are the factors x'(i). */
static void published(int count, const double *t, const int *n, int idle, double *nodes)
{
    double rows[5][6] = {{0}};
    for (int i = 0; i + 1 < count; i++) {
        rows[i][i] = 1 / t[i];
        rows[i][i + 1] = -1 / t[i + 1];
    }
    rows[count - 1][count] = idle;
    for (int i = 0; i < count; i++) {
        rows[count - 1][i] = n[i];
        rows[count - 1][count] += n[i];
    }
    eliminate(count, rows);
    for (int i = 0; i < count; i++)
        nodes[i] = rows[i][count] / rows[i][i] * n[i];
}

static void assert_as_published(int count, const double *t, const int *n, int idle)
{
    struct ers_share shares[5];
    double nodes[5], end, total = idle;
    for (int i = 0; i < count; i++) {
        shares[i] = (struct ers_share){.work = t[i] * n[i], .low = 0, .high = 1000};
        total += n[i];
    }
    published(count, t, n, idle, nodes);
    end = ers_balance(shares, count, total);
    for (int i = 0; i < count; i++) {
        assert_true(fabs(shares[i].nodes - nodes[i]) < 1e-9 * nodes[i]);
        assert_true(fabs(shares[i].work / shares[i].nodes - end) < 1e-9 * end);
    }
}

static void test_balancing_solves_the_published_systems(void **state)
{
    static const double t[] = {300, 600, 120, 4000};
    static const int n[] = {16, 20, 7, 64};
    (void)state;
    for (int count = 2; count <= 4; count++) {
        assert_as_published(count, t, n, 0);
        assert_as_published(count, t, n, 5);
    }
}

static void test_two_jobs_of_five_and_ten_minutes(void **state)
{
    struct ers_share shares[] = {{.work = 300 * 16, .low = 8, .high = 32}, {.work = 600 * 16, .low = 8, .high = 32}};
    (void)state;
    assert_true(fabs(ers_balance(shares, 2, 32) - 450) < 1e-9);
    assert_true(fabs(shares[0].nodes - 32 / 3.0) < 1e-9);
    assert_true(fabs(shares[1].nodes - 64 / 3.0) < 1e-9);
}

static void test_nobody_leaves_its_range(void **state)
{
    struct ers_share shares[] = {{.work = 160, .low = 8, .high = 32},
                                 {.work = 16000, .low = 8, .high = 20},
                                 {.work = 8000, .low = 8, .high = 64}};
    (void)state;
    assert_true(fabs(ers_balance(shares, 3, 48) - 8000 / 20.0) < 1e-9);
    assert_true(shares[0].nodes == 8 && shares[1].nodes == 20 && shares[2].nodes == 20);
}

static void test_too_few_nodes_for_the_ranges(void **state)
{
    struct ers_share shares[] = {{.work = 100, .low = 8, .high = 9}, {.work = 100, .low = 8, .high = 9}};
    (void)state;
    assert_true(ers_balance(shares, 2, 10) == 0);
    assert_true(shares[0].nodes == 8 && shares[1].nodes == 8);
}

/* ---- Options ------------------------------------------------------------------------------- */

static void test_defaults_are_those_of_the_help(void **state)
{
    (void)state;
    assert_true(settings->upper == 0.1 && settings->lower == 0.01 && settings->period == 60);
    assert_true(settings->values == 3 && settings->worth == 10);
    assert_true(settings->balance && settings->fill && settings->moldable);
}

static void test_values_without_sense(void **state)
{
    static const char *const bad[][2] = {{"upper", "0"},   {"upper", "x"},       {"lower", "-1"},      {"period", "0"},
                                         {"period", "1s"}, {"period", "inf"},    {"values", ""},       {"worth", "nan"},
                                         {"fill", "true"}, {"balance", "maybe"}, {"start", "evolving"}};
    (void)state;
    for (int i = 0; i < COUNT(bad); i++)
        assert_int_equal(ers_settings_set(settings, bad[i][0], bad[i][1]), -1);
    assert_true(settings->upper == 0.1 && settings->period == 60 && settings->fill && settings->moldable);
    assert_int_equal(ers_settings_set(settings, "start", "rigid"), 0);
    assert_false(settings->moldable);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_thresholds),
                                       TEST(test_on_a_threshold_is_in_the_band),
                                       TEST(test_thresholds_are_options),
                                       TEST(test_halving_ends_at_the_least),
                                       TEST(test_a_range_has_accepted_sizes_alone),
                                       TEST(test_the_phase_has_its_own_sizes),
                                       TEST(test_sizes_that_two_lists_have_in_common),
                                       TEST(test_a_small_start_is_made_good),
                                       TEST(test_what_was_inefficient_is_remembered),
                                       TEST(test_one_that_waits_starts_where_it_was_efficient),
                                       TEST(test_without_data_there_is_no_range),
                                       TEST(test_averages_begin_anew_with_a_resize),
                                       TEST(test_only_what_runs_and_can_be_resized),
                                       TEST(test_what_an_evolving_job_asks_for),
                                       TEST(test_the_cost_is_the_mean_of_the_job_s_own),
                                       TEST(test_balancing_solves_the_published_systems),
                                       TEST(test_two_jobs_of_five_and_ten_minutes),
                                       TEST(test_nobody_leaves_its_range),
                                       TEST(test_too_few_nodes_for_the_ranges),
                                       TEST(test_defaults_are_those_of_the_help),
                                       TEST(test_values_without_sense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
