/* What a policy says is checked call by call; a plan with one that cannot be is refused with a line, and changes
 * nothing. */
#include "tests/unit/scheduler_machine.h"

#include <math.h>
#include <stdio.h>

/* On 8 nodes: 1 rigid on 2 nodes, 2 malleable on 2, 3 malleable and adapting from 1 to 2; 4 waits for 4 nodes of 1
 * to 8. */
static struct core *core;
static struct error error;
static epop_plan_t *kept;
static const epop_policy_job_t nobody = {.id = 99};

static const epop_policy_job_t *job(int64_t id)
{
    return core_job(core, id);
}

static void prepare(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_start(plan, job(1), 2, "first");
    epop_plan_start(plan, job(2), 2, "second");
    epop_plan_start(plan, job(3), 1, "third");
}

static void prepare_more(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_resize(plan, job(3), 2, "grows");
}

static int set_up(void **state)
{
    struct policy start = of(prepare), more = of(prepare_more);
    (void)state;
    error = (struct error){0};
    core = core_create(8, &no_costs, 0);
    submit(core, 0, rigid(1, 2, 100));
    submit(core, 0, malleable(2, 2, 1, 4, 100));
    submit(core, 0, malleable(3, 1, 1, 4, 100));
    decide_at(core, 1, &start);
    decide_at(core, 2, &more);
    submit(core, 3, malleable(4, 4, 2, 8, 100));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    core_destroy(core);
    return 0;
}

/* The plan is refused for that reason, in the policy's name, and all is as it was. */
static void refuse(decide_fn decide, const char *why)
{
    struct policy policy = of(decide);
    struct decisions decisions;
    refused(core_decide(core, 4, &policy, &decisions, &error), &error, why);
    refused(-1, &error, "policy test at 4.000: ");
    assert_int_equal(core_state(core, 4)->idle, 2);
    assert_int_equal(core_state(core, 4)->running_count, 3);
    assert_true(job(4)->state == EPOP_POLICY_WAITS && job(4)->reserved < 0);
    assert_true(job(2)->target == 2 && job(3)->target == 2);
}

/* A test for each thing that a policy may do wrong: what it calls, and what is said. */
#define WRONG(name, call, why)                                                                                         \
    static void name##_decides(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)              \
    {                                                                                                                  \
        (void)settings, (void)state;                                                                                   \
        assert_int_equal(call, -1);                                                                                    \
    }                                                                                                                  \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        refuse(name##_decides, why);                                                                                   \
    }

WRONG(test_start_of_one_that_runs, epop_plan_start(plan, job(1), 2, "x"), "start job 1: it runs already, on 2 nodes")
WRONG(test_start_of_nobody, epop_plan_start(plan, &nobody, 2, "x"), "start job 99: there is no such job")
WRONG(test_start_of_null, epop_plan_start(plan, NULL, 2, "x"), "start: no job is named")
WRONG(test_start_too_small, epop_plan_start(plan, job(4), 1, "x"), "start job 4 at 1 nodes: it accepts 2 to 8")
WRONG(test_start_at_none, epop_plan_start(plan, job(4), 0, "x"), "start job 4 at 0 nodes")
WRONG(test_start_at_less, epop_plan_start(plan, job(4), -3, "x"), "start job 4 at -3 nodes")
WRONG(test_start_on_nodes_of_others, epop_plan_start(plan, job(4), 4, "x"), "that takes 4, and 2 are idle")
WRONG(test_start_without_reason, epop_plan_start(plan, job(4), 2, NULL), "start job 4: no reason is given")
WRONG(test_resize_of_a_rigid_one, epop_plan_resize(plan, job(1), 4, "x"), "resize job 1: it is rigid")
WRONG(test_resize_of_one_that_waits, epop_plan_resize(plan, job(4), 4, "x"), "resize job 4: it waits")
WRONG(test_resize_of_one_that_adapts, epop_plan_resize(plan, job(3), 4, "x"), "on its way from 1 to 2 nodes")
WRONG(test_resize_too_large, epop_plan_resize(plan, job(2), 5, "x"), "resize job 2 to 5 nodes: it accepts 1 to 4")
WRONG(test_resize_to_the_same, epop_plan_resize(plan, job(2), 2, "x"), "it has that many")
WRONG(test_reserve_of_one_that_runs, epop_plan_reserve(plan, job(2), 2, 9, "x"), "reserve job 2: it runs already")
WRONG(test_reserve_at_no_size, epop_plan_reserve(plan, job(4), 1, 9, "x"),
      "reserve job 4 at 1 nodes: it accepts 2 to 8")
WRONG(test_reserve_in_the_past, epop_plan_reserve(plan, job(4), 4, 3.5, "x"), "reserve job 4 at time 3.5: now is 4.000")
WRONG(test_reserve_never, epop_plan_reserve(plan, job(4), 4, INFINITY, "x"), "reserve job 4 at time inf")
WRONG(test_reserve_at_no_number, epop_plan_reserve(plan, job(4), 4, NAN, "x"), "reserve job 4 at time")
WRONG(test_a_start_too_many, (epop_plan_start(plan, job(4), 2, "x"), epop_plan_resize(plan, job(2), 3, "x")),
      "resize job 2 at 3 nodes: that takes 1, and 0 are idle")
WRONG(test_two_decisions_on_one, (epop_plan_reserve(plan, job(4), 2, 9, "x"), epop_plan_start(plan, job(4), 2, "x")),
      "start job 4: the plan has a decision on it already")
WRONG(test_a_wake_now, (epop_plan_wake(plan, 4), -1), "wake at time 4: now is 4.000")
WRONG(test_a_wake_at_no_number, (epop_plan_wake(plan, NAN), -1), "wake at time")
WRONG(test_the_first_fault_counts, (epop_plan_start(plan, NULL, 2, "x"), epop_plan_start(plan, job(1), 2, "x")),
      "start: no job is named")

/* After a fault the rest is checked as before. */
static void more_after_a_fault(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    assert_int_equal(epop_plan_start(plan, job(1), 2, "x"), -1);
    assert_int_equal(epop_plan_start(plan, job(4), 2, "x"), 0);
    assert_int_equal(epop_plan_idle(plan), 0);
}

static void test_a_fault_refuses_the_whole_plan(void **state)
{
    (void)state;
    refuse(more_after_a_fault, "start job 1");
}

static void starts_and_wakes(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    assert_int_equal(epop_plan_idle(plan), 2);
    assert_int_equal(epop_plan_resize(plan, job(2), 1, "a\tline\nwith %d%%", 5), 0);
    assert_int_equal(epop_plan_idle(plan), 2); /* what is given back comes later */
    assert_int_equal(epop_plan_start(plan, job(4), 2, "starts"), 0);
    epop_plan_wake(plan, 70);
    epop_plan_wake(plan, 50);
    epop_plan_wake(plan, INFINITY);
    kept = plan;
}

static void test_a_plan_becomes_decisions(void **state)
{
    struct policy policy = of(starts_and_wakes);
    struct decisions decisions = decide_at(core, 4, &policy);
    (void)state;
    assert_int_equal(decisions.count, 2);
    assert_true(decisions.items[0].kind == DECISION_RESIZE && decisions.items[0].job == 2);
    assert_string_equal(decisions.items[0].reason, "a line with 5%");
    assert_nodes(&decisions.items[0], (int[]){3}, 1);
    assert_true(decisions.items[1].kind == DECISION_START && decisions.items[1].from == 0 &&
                decisions.items[1].to == 2);
    assert_nodes(&decisions.items[1], (int[]){6, 7}, 2);
    assert_true(decisions.wake == 50);
}

static void test_a_plan_that_is_over_takes_nothing(void **state)
{
    struct policy policy = of(starts_and_wakes);
    (void)state;
    decide_at(core, 4, &policy);
    assert_int_equal(epop_plan_start(kept, job(4), 2, "x"), -1);
    assert_int_equal(epop_plan_resize(kept, job(2), 3, "x"), -1);
    assert_int_equal(epop_plan_reserve(kept, job(4), 3, 9, "x"), -1);
    assert_int_equal(epop_plan_idle(kept), 0);
    epop_plan_wake(kept, 90);
    assert_int_equal(epop_plan_start(NULL, job(4), 2, "x"), -1);
}

static void reserves(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    assert_int_equal(epop_plan_reserve(plan, job(4), 8, state->now + 40, "8 nodes"), 0);
}

static void test_the_first_promise_is_kept(void **state)
{
    struct policy policy = of(reserves);
    struct decisions decisions = decide_at(core, 4, &policy);
    (void)state;
    assert_true(decisions.count == 1 && decisions.items[0].kind == DECISION_RESERVE && decisions.items[0].time == 44);
    assert_true(!decisions.items[0].nodes && !decisions.items[0].count);
    decide_at(core, 10, &policy);
    assert_true(job(4)->reserved == 44);
}

static void long_reason(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_start(plan, job(4), 2, "%0198d\xc3\xa9 and more", 7); /* two bytes, of which one would fit */
}

static void test_a_long_reason_is_cut_between_characters(void **state)
{
    struct policy policy = of(long_reason);
    struct decisions decisions = decide_at(core, 4, &policy);
    size_t length = strlen(decisions.items[0].reason);
    (void)state;
    assert_int_equal(length, 198);
    assert_int_equal(decisions.items[0].reason[length - 1], '7');
}

static void foreign_reason(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_start(plan, job(4), 2, "na\xc3\xafve caf\xe9 \xc0\xaf \xed\xa0\x80 \xf0\x9f\x98\x80 \xff end");
}

static void test_a_reason_is_utf8(void **state)
{
    struct policy policy = of(foreign_reason);
    struct decisions decisions = decide_at(core, 4, &policy);
    (void)state;
    assert_string_equal(decisions.items[0].reason, "na\xc3\xafve caf? ?? ??? \xf0\x9f\x98\x80 ? end");
}

static epop_policy_phase_t two_phases[] = {{.name = "write", .range = {1, 4, NULL, 0}},
                                           {.name = "solve", .elastic = 1, .range = {1, 2, NULL, 0}}};

static void start_the_fifth(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_start(plan, job(5), 2, "x");
}

static void shrink_the_fifth(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_resize(plan, job(5), 1, "x");
}

static void change_the_fifth(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state;
    epop_plan_resize(plan, job(5), 3, "x");
}

static void test_the_present_phase_decides_too(void **state)
{
    struct policy start = of(start_the_fifth), shrink = of(shrink_the_fifth), grow = of(change_the_fifth);
    struct core_job given = malleable(5, 2, 1, 4, 100);
    struct decisions decisions;
    (void)state;
    given.phases = two_phases;
    given.phase_count = 2;
    submit(core, 4, given);
    decide_at(core, 4, &start);
    refused(core_decide(core, 4, &shrink, &decisions, &error), &error, "resize job 5: it is in its rigid phase write");
    told(core_phase(core, 5, 5, 1, NULL, &error), &error);
    refused(core_decide(core, 5, &grow, &decisions, &error), &error, "its phase solve accepts 1 to 2");
    assert_int_equal(decide_at(core, 5, &shrink).count, 1);
}

static void test_ranges(void **state)
{
    static const int squares[] = {1, 4, 9, 16};
    epop_policy_range_t some = {1, 16, squares, 4}, all = {3, 7, NULL, 0};
    (void)state;
    assert_true(epop_policy_accepts(&some, 9) && !epop_policy_accepts(&some, 8) && !epop_policy_accepts(&some, 0));
    assert_int_equal(epop_policy_fit(&some, 15), 9);
    assert_int_equal(epop_policy_fit(&some, 99), 16);
    assert_int_equal(epop_policy_fit(&some, 0), 0);
    assert_true(epop_policy_accepts(&all, 3) && epop_policy_accepts(&all, 7) && !epop_policy_accepts(&all, 8));
    assert_int_equal(epop_policy_fit(&all, 2), 0);
    assert_int_equal(epop_policy_fit(&all, 5), 5);
    assert_int_equal(epop_policy_fit(&all, 9), 7);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_start_of_one_that_runs),
        TEST(test_start_of_nobody),
        TEST(test_start_of_null),
        TEST(test_start_too_small),
        TEST(test_start_at_none),
        TEST(test_start_at_less),
        TEST(test_start_on_nodes_of_others),
        TEST(test_start_without_reason),
        TEST(test_resize_of_a_rigid_one),
        TEST(test_resize_of_one_that_waits),
        TEST(test_resize_of_one_that_adapts),
        TEST(test_resize_too_large),
        TEST(test_resize_to_the_same),
        TEST(test_reserve_of_one_that_runs),
        TEST(test_reserve_at_no_size),
        TEST(test_reserve_in_the_past),
        TEST(test_reserve_never),
        TEST(test_reserve_at_no_number),
        TEST(test_a_start_too_many),
        TEST(test_two_decisions_on_one),
        TEST(test_a_wake_now),
        TEST(test_a_wake_at_no_number),
        TEST(test_the_first_fault_counts),
        TEST(test_a_fault_refuses_the_whole_plan),
        TEST(test_a_plan_becomes_decisions),
        TEST(test_a_plan_that_is_over_takes_nothing),
        TEST(test_the_first_promise_is_kept),
        TEST(test_a_long_reason_is_cut_between_characters),
        TEST(test_a_reason_is_utf8),
        TEST(test_the_present_phase_decides_too),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
