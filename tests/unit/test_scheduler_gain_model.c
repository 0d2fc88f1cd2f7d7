/* What the policy gain believes of a job's speedup: fitted to sizes seen, to the time in MPI, or assumed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/policies/gain_model.h"

static epop_policy_sample_t sample(int nodes, double seconds, double mtct)
{
    return (epop_policy_sample_t){.phase = 3, .nodes = nodes, .iterations = 10, .seconds = seconds, .mtct = mtct};
}

static epop_policy_job_t job(const epop_policy_sample_t *samples, int count)
{
    return (epop_policy_job_t){.wanted = 16, .phase = 3, .samples = samples, .sample_count = count};
}

static void test_two_sizes_give_the_share(void **state)
{
    /* 0.05 s serial and 0.95 s parallel. */
    const epop_policy_sample_t seen[] = {sample(4, 0.05 + 0.95 / 4, -1), sample(16, 0.05 + 0.95 / 16, -1)};
    epop_policy_job_t measured = job(seen, 2);
    struct gain_model model = gain_model_fit(&measured, 0.7, NULL);
    (void)state;
    assert_int_equal(model.source, GAIN_FROM_SIZES);
    assert_float_equal(model.share, 0.05, 1e-9);
    assert_float_equal(gain_speedup(&model, 16), 1 / (0.05 + 0.95 / 16), 1e-6);
}

static void test_sizes_that_do_not_differ_in_time(void **state)
{
    const epop_policy_sample_t slower[] = {sample(4, 1, -1), sample(8, 1.5, -1)};
    const epop_policy_sample_t faster[] = {sample(4, 1, -1), sample(8, 0.4, -1)};
    epop_policy_job_t one = job(slower, 2), other = job(faster, 2);
    (void)state;
    assert_float_equal(gain_model_fit(&one, 0.7, NULL).share, 1, 0);
    assert_float_equal(gain_model_fit(&other, 0.7, NULL).share, 0, 0);
}

static void test_the_time_in_mpi_where_one_size_was_seen(void **state)
{
    const epop_policy_sample_t seen[] = {sample(8, 0.2, 0.35)};
    epop_policy_job_t measured = job(seen, 1);
    struct gain_model model = gain_model_fit(&measured, 0.7, NULL);
    (void)state;
    assert_int_equal(model.source, GAIN_FROM_MTCT);
    assert_float_equal(model.share, 0.05, 1e-9);
    assert_float_equal(gain_speedup(&model, 8), 8 / 1.35, 1e-6);
}

/* Perfect speedup, as it is believed from 4 and 8 nodes: measured, between, above and below these. */
static void test_where_nothing_was_measured_it_may_be_slower(void **state)
{
    const epop_policy_sample_t seen[] = {sample(4, 1, -1), sample(8, 0.5, -1)};
    static const struct {
        int nodes;
        double slower;
    } expected[] = {{4, 1}, {8, 1}, {6, 1}, {16, 2}, {2, 1}};
    epop_policy_job_t measured = job(seen, 2);
    struct gain_job known = {.job = &measured, .model = gain_model_fit(&measured, 0.7, NULL), .useful = 16};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_float_equal(gain_job_slower(&known, expected[i].nodes), expected[i].slower, 1e-9);
    const epop_policy_sample_t poor[] = {sample(4, 1, -1), sample(8, 1, -1)};
    measured.samples = poor;
    known.model = gain_model_fit(&measured, 0.7, NULL);
    assert_float_equal(gain_job_slower(&known, 16), 1, 1e-9);
    assert_float_equal(gain_job_slower(&known, 2), 2, 1e-9); /* below 4 nodes it may speed up */
    measured.sample_count = 0;
    assert_float_equal(gain_job_slower(&known, 16), 1, 0);
}

static int top_with(epop_policy_kind_t kind, const epop_policy_sample_t *samples, int count)
{
    static const struct gain_options options = {.efficiency = 0.7, .marginal = 0.05};
    static const epop_policy_state_t state = {.node_count = 16, .idle = 16};
    epop_policy_job_t waits = job(samples, count);
    waits.kind = kind;
    waits.range = (epop_policy_range_t){.min = kind == EPOP_RIGID ? 16 : 1, .max = 16};
    waits.limit = waits.left = 100;
    return gain_job_of(&waits, &state, &options).top;
}

static void test_one_that_waits_starts_where_more_brings_nothing(void **state)
{
    const epop_policy_sample_t linear[] = {sample(4, 1, -1), sample(16, 0.25, -1)};
    const epop_policy_sample_t slower[] = {sample(4, 1, -1), sample(8, 1.5, -1)};
    (void)state;
    assert_int_equal(top_with(EPOP_MALLEABLE, NULL, 0), 16);
    assert_int_equal(top_with(EPOP_MALLEABLE, linear, 2), 16);
    assert_int_equal(top_with(EPOP_MALLEABLE, slower, 2), 4); /* below it nothing is known */
    assert_int_equal(top_with(EPOP_RIGID, slower, 2), 16);
}

static void test_what_is_assumed(void **state)
{
    const epop_policy_sample_t other_phase = {.phase = 2, .nodes = 8, .iterations = 10, .seconds = 1, .mtct = 0};
    const epop_policy_sample_t one_node[] = {sample(1, 1, 0)};
    epop_policy_job_t nothing = job(&other_phase, 1), alone = job(one_node, 1);
    struct gain_model model = gain_model_fit(&nothing, 0.7, NULL);
    (void)state;
    assert_int_equal(model.source, GAIN_ASSUMED);
    assert_float_equal(gain_speedup(&model, 16) / 16, 0.7, 1e-9);
    assert_int_equal(gain_model_fit(&alone, 0.7, NULL).source, GAIN_ASSUMED);
}

/* Speeds up to 16 nodes and not beyond: no share of Amdahl's law is like that. */
static void test_downey_where_it_is_nearer(void **state)
{
    const epop_policy_sample_t seen[] = {sample(4, 1.0 / 4, -1), sample(8, 1.0 / 8, -1), sample(16, 1.0 / 16, -1),
                                         sample(32, 1.0 / 16, -1), sample(64, 1.0 / 16, -1)};
    epop_policy_job_t measured = job(seen, 5);
    struct gain_model model = gain_model_fit(&measured, 0.7, NULL);
    (void)state;
    assert_true(model.parallelism > 0);
    assert_float_equal(gain_speedup(&model, 8), 8, 1);
    assert_float_equal(gain_speedup(&model, 64) / gain_speedup(&model, 32), 1, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sizes_give_the_share),
        cmocka_unit_test(test_sizes_that_do_not_differ_in_time),
        cmocka_unit_test(test_the_time_in_mpi_where_one_size_was_seen),
        cmocka_unit_test(test_where_nothing_was_measured_it_may_be_slower),
        cmocka_unit_test(test_one_that_waits_starts_where_more_brings_nothing),
        cmocka_unit_test(test_what_is_assumed),
        cmocka_unit_test(test_downey_where_it_is_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
