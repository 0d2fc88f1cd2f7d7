/* EASY backfilling, on machines small enough to be done by hand. */
#include "tests/unit/scheduler_machine.h"

#include "scheduler/policies/policies.h"

static struct core *core;
static struct error error;
static struct policy easy;

static int set_up(void **state)
{
    (void)state;
    error = (struct error){0};
    easy = (struct policy){.table = policy_easy};
    core = core_create(10, &no_costs, 0);
    return core ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    core_destroy(core);
    return 0;
}

static bool runs(int64_t id)
{
    return core_job(core, id)->state == EPOP_POLICY_RUNS;
}

static const struct decision *of_job(struct decisions decisions, int64_t id)
{
    for (int i = 0; i < decisions.count; i++) {
        if (decisions.items[i].job == id)
            return &decisions.items[i];
    }
    fail_msg("there is no decision on job %lld", (long long)id);
    return NULL;
}

static void test_first_come_first_served(void **state)
{
    struct decisions decisions;
    (void)state;
    submit(core, 0, rigid(1, 4, 100));
    submit(core, 0, malleable(2, 6, 1, 10, 100));
    submit(core, 0, rigid(3, 1, 100));
    decisions = decide_at(core, 0, &easy);
    assert_true(runs(1) && runs(2) && !runs(3));
    assert_string_equal(of_job(decisions, 1)->reason, "first in the queue: 4 of 10 idle nodes");
    assert_int_equal(core_job(core, 2)->nodes, 6);
    assert_true(of_job(decisions, 3)->kind == DECISION_RESERVE && of_job(decisions, 3)->time == 100);
}

/* 6 nodes are busy until 100; the head wants 8, so 2 are left over at 100. */
static void fill(void)
{
    submit(core, 0, rigid(1, 6, 100));
    submit(core, 0, rigid(2, 8, 50));
    decide_at(core, 0, &easy);
    assert_true(runs(1) && !runs(2));
}

static void test_the_head_is_promised_a_start(void **state)
{
    (void)state;
    fill();
    assert_true(core_job(core, 2)->reserved == 100);
    told(core_ended(core, 60, 1, &error), &error);
    decide_at(core, 60, &easy);
    assert_true(runs(2));
}

static void test_what_ends_before_the_head_starts_is_backfilled(void **state)
{
    struct decisions decisions;
    (void)state;
    fill();
    submit(core, 10, rigid(3, 4, 90));
    decisions = decide_at(core, 10, &easy);
    assert_true(runs(3));
    assert_string_equal(of_job(decisions, 3)->reason,
                        "backfilled: 4 of 4 idle nodes, its 90 s end before job 2 starts at 100");
}

static void test_what_ends_later_waits(void **state)
{
    (void)state;
    fill();
    submit(core, 10, rigid(3, 3, 91));
    decide_at(core, 10, &easy);
    assert_false(runs(3));
}

static void test_what_the_head_does_not_need_is_used_longer(void **state)
{
    struct decisions decisions;
    (void)state;
    fill();
    submit(core, 10, rigid(3, 1, 1000));
    submit(core, 10, rigid(4, 1, 1000));
    submit(core, 10, rigid(5, 1, 1000));
    submit(core, 10, rigid(6, 2, 90));
    decisions = decide_at(core, 10, &easy);
    assert_true(runs(3) && runs(4) && !runs(5) && runs(6));
    assert_string_equal(of_job(decisions, 3)->reason,
                        "backfilled: 1 of 4 idle nodes, and 1 more that job 2 does not need");
}

static void test_all_that_end_together_are_counted(void **state)
{
    (void)state;
    submit(core, 0, rigid(1, 3, 100));
    submit(core, 0, rigid(2, 4, 100));
    submit(core, 0, rigid(3, 6, 50)); /* with 10 nodes at 100: 4 are left over */
    submit(core, 0, rigid(4, 3, 1000));
    decide_at(core, 0, &easy);
    assert_true(runs(1) && runs(2) && !runs(3) && runs(4));
}

static void test_what_starts_now_is_counted(void **state)
{
    (void)state;
    submit(core, 0, rigid(1, 9, 30));
    submit(core, 0, rigid(2, 2, 50));
    decide_at(core, 0, &easy);
    assert_true(core_job(core, 2)->reserved == 30);
}

static void test_a_job_that_should_be_over(void **state)
{
    (void)state;
    fill();
    submit(core, 200, rigid(3, 4, 10));
    submit(core, 200, rigid(4, 2, 10));
    decide_at(core, 200, &easy);
    assert_true(!runs(3) && runs(4)); /* the head may start at any moment */
    assert_true(core_job(core, 2)->reserved == 100);
}

static void test_more_nodes_than_are_up(void **state)
{
    (void)state;
    told(core_node(core, 0, false, &error), &error);
    submit(core, 0, rigid(1, 10, 100));
    submit(core, 0, rigid(2, 9, 100));
    submit(core, 0, rigid(3, 1, 10));
    decide_at(core, 0, &easy);
    assert_true(!runs(1) && runs(2) && !runs(3));
    assert_true(core_job(core, 1)->reserved < 0 && core_job(core, 3)->reserved == 100);
    told(core_node(core, 0, true, &error), &error);
    decide_at(core, 1, &easy);
    assert_true(core_job(core, 1)->reserved == 100 && runs(3));
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    assert_int_equal(decide_at(core, 0, &easy).count, 0);
    submit(core, 0, rigid(1, 10, 100));
    decide_at(core, 0, &easy);
    assert_int_equal(decide_at(core, 1, &easy).count, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_first_come_first_served),
        TEST(test_the_head_is_promised_a_start),
        TEST(test_what_ends_before_the_head_starts_is_backfilled),
        TEST(test_what_ends_later_waits),
        TEST(test_what_the_head_does_not_need_is_used_longer),
        TEST(test_all_that_end_together_are_counted),
        TEST(test_what_starts_now_is_counted),
        TEST(test_a_job_that_should_be_over),
        TEST(test_more_nodes_than_are_up),
        TEST(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
