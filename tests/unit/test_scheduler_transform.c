/* Options that change a workload: load, kinds, sizes, speedup, limits; each by its seed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scheduler/workload/transform.h"
#include "scheduler/workload/workload.h"

#define JOBS  200
#define NODES 64

static const struct transform nothing = {
    .seed = 1, .malleable = -1, .moldable = -1, .min_share = 0.25, .max_share = 2, .bytes_per_node = -1};

/* Rigid ones of 1 to 50 nodes that take 10 s and more, 5 s apart. */
static void make(struct workload *workload)
{
    const struct speedup linear = {.model = SPEEDUP_LINEAR};
    *workload = (struct workload){.nodes = NODES};
    for (int i = 0; i < JOBS; i++) {
        struct work *work = workload_add(workload);
        assert_non_null(work);
        work->id = i + 1;
        work->submit = 100 + 5 * i;
        work->wanted = 1 + i % 50;
        work->range = (epop_policy_range_t){.min = work->wanted, .max = work->wanted};
        work->limit = 10 + i;
        assert_int_equal(work_one_phase(work, "run", 10 + i, &linear), 0);
    }
}

static void apply(struct workload *workload, const struct transform *how)
{
    struct error error;
    make(workload);
    assert_int_equal(transform(workload, how, &error), 0);
}

static int count_kind(const struct workload *workload, epop_policy_kind_t kind)
{
    int count = 0;
    for (size_t i = 0; i < workload->count; i++)
        count += workload->works[i].kind == kind;
    return count;
}

static void nothing_asked_for_changes_nothing(void **state)
{
    struct workload workload;
    (void)state;
    apply(&workload, &nothing);
    assert_int_equal(workload.count, JOBS);
    assert_int_equal(count_kind(&workload, EPOP_RIGID), JOBS);
    assert_true(limits_are_exact(&workload));
    workload_free(&workload);
}

static void the_first_jobs(void **state)
{
    struct workload workload;
    struct transform how = nothing;
    (void)state;
    how.jobs = 7;
    apply(&workload, &how);
    assert_int_equal(workload.count, 7);
    assert_int_equal(workload.works[6].id, 7);
    workload_free(&workload);
    how.jobs = JOBS + 1;
    apply(&workload, &how);
    assert_int_equal(workload.count, JOBS);
    workload_free(&workload);
}

static void load_is_what_was_asked_for(void **state)
{
    const double loads[] = {0.1, 0.9, 3};
    struct workload workload;
    struct transform how = nothing;
    (void)state;
    for (int i = 0; i < 3; i++) {
        how.load = loads[i];
        apply(&workload, &how);
        assert_float_equal(workload_load(&workload), loads[i], 1e-9);
        assert_float_equal(workload.works[0].submit, 100, 0);
        workload_free(&workload);
    }
}

static void jobs_that_come_at_once_have_no_load_to_scale(void **state)
{
    struct workload workload;
    struct error error;
    struct transform how = nothing;
    (void)state;
    make(&workload);
    how.jobs = 1;
    how.load = 0.5;
    assert_int_equal(transform(&workload, &how, &error), -1);
    assert_non_null(strstr(error.text, "submitted at once"));
    workload_free(&workload);
}

static void shares_are_exact_and_nested(void **state)
{
    struct workload less, more;
    struct transform how = nothing;
    (void)state;
    how.malleable = 0.25;
    apply(&less, &how);
    how.malleable = 0.5;
    apply(&more, &how);
    assert_int_equal(count_kind(&less, EPOP_MALLEABLE), JOBS / 4);
    assert_int_equal(count_kind(&more, EPOP_MALLEABLE), JOBS / 2);
    for (size_t i = 0; i < JOBS; i++)
        assert_true(less.works[i].kind != EPOP_MALLEABLE || more.works[i].kind == EPOP_MALLEABLE);
    workload_free(&less);
    workload_free(&more);
}

static void another_seed_draws_other_jobs(void **state)
{
    struct workload one, two;
    struct transform how = nothing;
    int same = 0;
    (void)state;
    how.malleable = 0.5;
    apply(&one, &how);
    how.seed = 2;
    apply(&two, &how);
    for (size_t i = 0; i < JOBS; i++)
        same += one.works[i].kind == two.works[i].kind;
    assert_in_range(same, JOBS / 4, 3 * JOBS / 4);
    workload_free(&one);
    workload_free(&two);
}

static void malleable_and_moldable_are_disjoint(void **state)
{
    struct workload workload;
    struct transform how = nothing;
    (void)state;
    how.malleable = 0.3;
    how.moldable = 0.5;
    apply(&workload, &how);
    assert_int_equal(count_kind(&workload, EPOP_MALLEABLE), 60);
    assert_int_equal(count_kind(&workload, EPOP_MOLDABLE), 100);
    workload_free(&workload);
}

static void sizes_stay_within_the_machine(void **state)
{
    struct workload workload;
    struct transform how = nothing;
    (void)state;
    how.malleable = 1;
    apply(&workload, &how);
    for (size_t i = 0; i < JOBS; i++) {
        const struct work *work = &workload.works[i];
        assert_int_equal(work->range.min, (work->wanted + 3) / 4);
        assert_int_equal(work->range.max, 2 * work->wanted < NODES ? 2 * work->wanted : NODES);
        assert_true(work->progress);
    }
    workload_free(&workload);
}

static void a_range_of_its_own_is_kept(void **state)
{
    struct workload workload;
    struct error error;
    struct transform how = nothing;
    (void)state;
    make(&workload);
    workload.works[9].kind = EPOP_MALLEABLE;
    work_set_range(&workload.works[9], 3, 11);
    how.malleable = 1;
    assert_int_equal(transform(&workload, &how, &error), 0);
    assert_int_equal(workload.works[9].range.min, 3);
    assert_int_equal(workload.works[9].range.max, 11);
    how.malleable = 0;
    assert_int_equal(transform(&workload, &how, &error), 0);
    assert_int_equal(count_kind(&workload, EPOP_RIGID), JOBS);
    assert_int_equal(workload.works[9].range.max, workload.works[9].wanted);
    workload_free(&workload);
}

static void run_times_at_the_wanted_size_stay(void **state)
{
    const char *const models[] = {"linear", "amdahl:serial=0.1", "downey:A=2w,sigma=0.5", "downey:sigma=1.5,A=9"};
    struct error error;
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct workload workload;
        struct transform how = nothing;
        assert_int_equal(speedup_rule_parse(&how.speedup, models[m], &error), 0);
        apply(&workload, &how);
        for (size_t i = 0; i < JOBS; i++)
            assert_float_equal(work_seconds(&workload.works[i], workload.works[i].wanted), 10 + (double)i, 1e-6);
        assert_true(limits_are_exact(&workload));
        workload_free(&workload);
    }
}

/* A phase with weak scaling takes as long at the wanted nodes, too, and as much longer at others as it loses speed. */
static void a_speedup_with_weak_scaling(void **state)
{
    struct workload workload;
    struct error error;
    struct transform how = nothing;
    (void)state;
    make(&workload);
    struct phase *phase = workload.works[9].phases;
    int wanted = workload.works[9].wanted;
    phase->weak = true;
    double there = phase_iteration(phase, wanted);
    assert_int_equal(speedup_rule_parse(&how.speedup, "amdahl:serial=0.1", &error), 0);
    assert_int_equal(transform(&workload, &how, &error), 0);
    assert_float_equal(phase_iteration(phase, wanted), there, 1e-9);
    double loss = (0.9 + 0.1 * 2 * wanted) / (0.9 + 0.1 * wanted);
    assert_float_equal(phase_iteration(phase, 2 * wanted), there * loss, 1e-9);
    workload_free(&workload);
}

static void relative_parallelism_is_of_each_job(void **state)
{
    struct workload workload;
    struct error error;
    struct transform how = nothing;
    (void)state;
    assert_int_equal(speedup_rule_parse(&how.speedup, "downey:A=2w,sigma=0", &error), 0);
    apply(&workload, &how);
    assert_float_equal(workload.works[9].phases[0].speedup.parallelism, 20, 1e-12);
    assert_true(work_seconds(&workload.works[9], 20) < 0.51 * work_seconds(&workload.works[9], 10));
    assert_float_equal(work_seconds(&workload.works[9], 60), work_seconds(&workload.works[9], 40), 1e-9);
    workload_free(&workload);
}

static void models_that_make_no_sense_are_refused(void **state)
{
    const char *const texts[] = {"",
                                 "gustafson",
                                 "linear:x=1",
                                 "amdahl",
                                 "amdahl:serial=2",
                                 "amdahl:serial=",
                                 "amdahl:serial=0.5w",
                                 "downey:A=2w",
                                 "downey:A=2w,sigma=-1",
                                 "downey:A=0,sigma=1",
                                 "downey:A=2w,A=3w",
                                 "downey:A=2w,sigma=1,",
                                 "downey:A=2w;sigma=1",
                                 "downey:A=nan,sigma=1"};
    struct speedup_rule rule;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        if (!speedup_rule_parse(&rule, texts[i], &error))
            fail_msg("\"%s\" is taken", texts[i]);
        assert_non_null(strstr(error.text, texts[i]));
        assert_null(strchr(error.text, '\n'));
    }
}

static void limits_are_wrong_by_the_factor_at_most(void **state)
{
    struct workload workload;
    struct transform how = nothing;
    double most = 0;
    (void)state;
    how.limit_factor = 4;
    how.bytes_per_node = 1000;
    apply(&workload, &how);
    for (size_t i = 0; i < JOBS; i++) {
        double factor = workload.works[i].limit / (10 + (double)i);
        assert_true(factor >= 1 && factor < 4);
        most = fmax(most, factor);
        assert_float_equal(workload.works[i].bytes, 1000.0 * workload.works[i].wanted, 0);
    }
    assert_true(most > 3.5);
    assert_false(limits_are_exact(&workload));
    workload_free(&workload);
}

static void drawn_numbers_are_spread(void **state)
{
    int counts[10] = {0};
    (void)state;
    for (int i = 0; i < 10000; i++)
        counts[(int)(10 * workload_drawn(7, i, "kind"))]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 850, 1150);
    assert_true(workload_drawn(1, 1, "kind") != workload_drawn(1, 1, "limit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_for_changes_nothing),
        cmocka_unit_test(the_first_jobs),
        cmocka_unit_test(load_is_what_was_asked_for),
        cmocka_unit_test(jobs_that_come_at_once_have_no_load_to_scale),
        cmocka_unit_test(shares_are_exact_and_nested),
        cmocka_unit_test(another_seed_draws_other_jobs),
        cmocka_unit_test(malleable_and_moldable_are_disjoint),
        cmocka_unit_test(sizes_stay_within_the_machine),
        cmocka_unit_test(a_range_of_its_own_is_kept),
        cmocka_unit_test(run_times_at_the_wanted_size_stay),
        cmocka_unit_test(a_speedup_with_weak_scaling),
        cmocka_unit_test(relative_parallelism_is_of_each_job),
        cmocka_unit_test(models_that_make_no_sense_are_refused),
        cmocka_unit_test(limits_are_wrong_by_the_factor_at_most),
        cmocka_unit_test(drawn_numbers_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
