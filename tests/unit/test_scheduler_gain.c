/* The policy gain with firm=0, its decisions, on hand-made states of the core. */
#include "tests/unit/scheduler_decided.h"

#include <math.h>

static int set_up(void **state)
{
    (void)state;
    error = (struct error){0};
    machine(16, 0.1, 0);
    return policy_open(&policy, "gain,firm=0", policies, &error);
}

static int nodes_of(int64_t job)
{
    return core_job(core, job)->nodes;
}

static void start(double now, struct core_job job)
{
    submit(core, now, job);
    decide(now);
    assert_int_equal(core_job(core, job.id)->state, EPOP_POLICY_RUNS);
}

/* A loop that speeds up as Amdahl's law says: two sizes tell it. */
static void measured(int64_t job, double share)
{
    for (int nodes = 1; nodes <= 4; nodes += 3) {
        double change;
        epop_policy_sample_t sample = {
            .nodes = nodes, .iterations = 10, .seconds = share + (1 - share) / nodes, .mtct = -1};
        told(core_measured(core, job, &sample, &change, &error), &error);
    }
}

static void test_idle_nodes_make_a_job_larger(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 16, 1000));
    measured(1, 0);
    decide(100);
    assert_decided(DECISION_RESIZE, 1, 16, "4 -> 16: 4.00 times as fast, 12 nodes idle, costs 0.10 s of 900 s left");
}

static void test_not_where_it_does_not_speed_up(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 16, 1000));
    measured(1, 0.9);
    decide(100);
    assert_null(decision_on(1));
}

/* With weak scaling, as the samples are of as much work; its iterations take as long at every size. */
static void weak_job(int nodes)
{
    start(0, malleable(1, nodes, 1, 16, 1000));
    told(core_weak(core, 1, true, &error), &error);
    measured(1, 0);
}

static void test_idle_nodes_make_the_work_of_a_job_larger(void **state)
{
    (void)state;
    weak_job(4);
    decide(100);
    assert_decided(DECISION_RESIZE, 1, 16, "4 -> 16: 4.00 times the work, 12 nodes idle, costs 0.10 s of 900 s left");
}

/* Such a job, or one with strong scaling, and one that comes and waits. */
static void decide_beside(bool weak, int nodes, double when, int wanted)
{
    machine(16, 0.1, 0);
    start(0, malleable(1, nodes, 1, 16, 1000));
    told(core_weak(core, 1, weak, &error), &error);
    measured(1, 0);
    submit(core, when, rigid(2, wanted, 1000));
    decide(fmax(when, 100));
}

static void test_no_larger_work_while_others_wait(void **state)
{
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        decide_beside(weak, 4, 50, 16);
        assert_int_equal(decision_on(1) ? decision_on(1)->to : 4, weak ? 4 : 16);
        assert_true(decision_on(2)->kind == DECISION_RESERVE && decision_on(2)->time >= (weak ? 1000 : 100));
    }
}

static void test_more_than_was_wanted_is_given_for_nothing(void **state)
{
    (void)state;
    weak_job(4);
    decide(100);
    told(core_committed(core, 101, 1, 1, 0.1, &error), &error);
    submit(core, 200, rigid(2, 12, 1000));
    decide(200);
    assert_decided(DECISION_RESIZE, 1, 4, "makes room for job 2; 0.25 times the work");
    core_state(core, 200);
    assert_true(fabs(core_job(core, 1)->left - 800.1) < 1e-6);
}

/* Below it work is lost that its user asked for: that counts as if it had to be done. */
static void test_what_was_wanted_is_weighed_as_time(void **state)
{
    int given[2];
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        decide_beside(weak, 16, 200, 8);
        given[weak] = decision_on(1) ? decision_on(1)->to : 16;
    }
    assert_int_equal(given[0], given[1]);
}

static void test_the_cost_is_set_against_the_time_left(void **state)
{
    (void)state;
    machine(16, 3, 0);
    use("gain,stay-costs=0");
    start(0, malleable(1, 8, 1, 16, 2000));
    measured(1, 0);
    decide(1990); /* 10 s left, and half of them could be saved: not twice the cost */
    assert_null(decision_on(1));
    use("gain,stay-costs=0,factor=1");
    decide(1991);
    assert_decided(DECISION_RESIZE, 1, 16, "costs 3.00 s of 9 s left");
}

static void test_not_beyond_what_is_wanted_where_others_would_wait_long_for_it(void **state)
{
    (void)state;
    machine(16, 10, 0);
    start(0, malleable(1, 8, 1, 16, 20000));
    measured(1, 0);
    decide(1000);
    assert_null(decision_on(1));
}

static void test_no_donor_that_is_done_before_its_shrink(void **state)
{
    (void)state;
    machine(16, 10, 0);
    use("gain,stay-costs=0");
    start(0, malleable(1, 16, 4, 16, 1000));
    measured(1, 0.01);
    submit(core, 980, rigid(2, 8, 1000));
    decide(980);
    assert_null(decision_on(1));
}

static void test_a_phase_of_other_sizes_does_not_keep_a_job_waiting(void **state)
{
    const epop_policy_phase_t phases[] = {{"wide", 1, {8, 16, NULL, 0}, 0}, {"loop", 1, {1, 16, NULL, 0}, 0}};
    struct core_job job = malleable(1, 4, 1, 16, 1000);
    (void)state;
    job.phases = phases;
    job.phase_count = 2;
    submit(core, 0, rigid(2, 12, 1000));
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_START, 1, 4, "its turn");
}

/* A malleable job in a rigid phase stays as it starts. */
static void test_a_rigid_phase_is_not_started_small(void **state)
{
    const epop_policy_phase_t phases[] = {{"loop", 0, {1, 16, NULL, 0}, 0}};
    struct core_job job = malleable(2, 16, 1, 16, 1000);
    (void)state;
    job.phases = phases;
    job.phase_count = 1;
    start(0, rigid(1, 12, 100));
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 16, "");
}

static void test_what_a_program_gives_back_is_left_where_that_costs_more(void **state)
{
    struct core_job job = malleable(1, 8, 1, 16, 100);
    (void)state;
    machine(16, 60, 0);
    job.kind = EPOP_EVOLVING;
    start(0, job);
    told(core_asked(core, 1, 2, &error), &error);
    decide(20);
    assert_null(decision_on(1));
}

static void test_a_job_stays_at_a_size_for_a_while(void **state)
{
    (void)state;
    use("gain,stay=60");
    start(0, malleable(1, 4, 1, 16, 1000));
    measured(1, 0);
    decide(59);
    assert_null(decision_on(1));
    assert_true(decisions.wake == 60);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 16, "");
}

static void test_a_running_job_makes_room(void **state)
{
    (void)state;
    start(0, malleable(1, 16, 4, 16, 10000));
    measured(1, 0.01);
    submit(core, 100, rigid(2, 8, 50));
    decide(100);
    assert_decided(DECISION_RESIZE, 1, 8, "16 -> 8: makes room for job 2; 0.");
    told(core_committed(core, 101, 1, 1, 0.1, &error), &error);
    decide(101);
    assert_decided(DECISION_START, 2, 8, "starts with 8 of 8 nodes, its turn");
}

static void test_no_room_that_costs_more_than_it_saves(void **state)
{
    (void)state;
    machine(16, 100, 0);
    use("gain,stay-costs=0");
    start(0, malleable(1, 16, 4, 16, 1000));
    measured(1, 0.01);
    submit(core, 900, rigid(2, 8, 1000));
    decide(900);
    assert_null(decision_on(1));
    assert_decided(DECISION_RESERVE, 2, 8, "first in the queue");
}

static void test_never_below_the_minimum_and_only_accepted_sizes(void **state)
{
    static const int sizes[] = {4, 9, 16};
    struct core_job squares = malleable(1, 16, 4, 16, 10000);
    (void)state;
    squares.range = (epop_policy_range_t){4, 16, sizes, 3};
    start(0, squares);
    measured(1, 0.01);
    submit(core, 100, rigid(2, 6, 50));
    decide(100);
    assert_decided(DECISION_RESIZE, 1, 9, "16 -> 9");
    machine(16, 0.1, 0);
    start(0, squares);
    measured(1, 0.01);
    submit(core, 100, rigid(2, 13, 50));
    decide(100);
    assert_null(decision_on(1));
}

/* One that has fewer nodes than its phase accepts gives none; others still may. */
static void test_a_job_smaller_than_its_phase_accepts_is_no_donor(void **state)
{
    const epop_policy_phase_t phases[] = {{"loop", 1, {12, 16, NULL, 0}, 0}};
    struct core_job small = malleable(1, 4, 1, 16, 1000);
    (void)state;
    small.phases = phases;
    small.phase_count = 1;
    start(0, small);
    start(0, malleable(2, 12, 4, 12, 10000));
    measured(2, 0.01);
    submit(core, 100, rigid(3, 6, 50));
    decide(100);
    assert_decided(DECISION_RESIZE, 2, 6, "makes room for job 3");
}

static void test_waiting_jobs_share_what_is_idle(void **state)
{
    int all = 0;
    (void)state;
    for (int id = 1; id <= 4; id++)
        submit(core, 0, malleable(id, 16, 1, 16, 1000));
    decide(0);
    for (int id = 1; id <= 4; id++) {
        assert_int_equal(core_job(core, id)->state, EPOP_POLICY_RUNS);
        all += nodes_of(id);
    }
    assert_int_equal(all, 16);
}

static void test_a_moldable_job_starts_smaller_only_if_it_is_done_earlier(void **state)
{
    struct core_job job = malleable(2, 16, 1, 16, 100);
    (void)state;
    job.kind = EPOP_MOLDABLE;
    start(0, rigid(1, 8, 1000));
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_START, 2, 8, "");
    machine(16, 0.1, 0);
    start(0, rigid(1, 8, 20));
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 16, "");
}

static void test_what_is_behind_does_not_delay_the_first(void **state)
{
    (void)state;
    start(0, rigid(1, 10, 100));
    submit(core, 0, rigid(2, 14, 50));
    submit(core, 0, malleable(3, 6, 4, 6, 500));
    submit(core, 0, malleable(4, 2, 1, 2, 500));
    submit(core, 0, rigid(5, 2, 90));
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 14, "14 nodes are free in 100 s");
    assert_null(decision_on(3));
    assert_decided(DECISION_START, 4, 2, "does not delay");
    assert_decided(DECISION_START, 5, 2, "does not delay");
}

/* 10 nodes until the first phase is over; the second is as it says. */
static void in_two_phases(double begins, int elastic, int max)
{
    const epop_policy_phase_t phases[] = {{"loop", 1, {1, 16, NULL, 0}, 0}, {"output", elastic, {1, max, NULL, 0}, 0}};
    const double times[] = {0, begins};
    struct core_job job = malleable(1, 10, 1, 16, 1000);
    job.phases = phases;
    job.phase_count = 2;
    start(0, job);
    told(core_phase(core, 0, 1, 0, times, &error), &error);
    measured(1, 0.01);
}

static void test_nodes_are_given_back_before_a_phase_that_cannot_use_them(void **state)
{
    (void)state;
    in_two_phases(503, 0, 4);
    use("gain,marginal=1");
    decide(200);
    assert_null(decision_on(1));
    assert_true(decisions.wake > 200 && decisions.wake <= 498);
    decide(499);
    assert_decided(DECISION_RESIZE, 1, 4, "10 -> 4: its phase output in 4 s takes at most 4");
}

static void test_no_growth_for_a_phase_that_is_over_soon(void **state)
{
    (void)state;
    machine(16, 2, 0);
    in_two_phases(110, 1, 10);
    decide(100); /* 10 s more in which it could have more than 10 */
    assert_null(decision_on(1));
}

static void test_none_is_resized_in_a_rigid_phase(void **state)
{
    (void)state;
    in_two_phases(50, 0, 16);
    told(core_phase(core, 50, 1, 1, NULL, &error), &error);
    submit(core, 100, rigid(2, 8, 10));
    decide(100);
    assert_null(decision_on(1));
}

static void test_the_power_cap(void **state)
{
    (void)state;
    machine(16, 0.1, 16 * 100 + 8 * 200);
    for (int node = 0; node < 16; node++)
        core_set_watts(core, node, 100, 300);
    start(0, malleable(1, 6, 1, 16, 1000));
    measured(1, 0);
    submit(core, 10, rigid(2, 3, 10));
    decide(10);
    assert_true(!decision_on(2) || decision_on(2)->kind != DECISION_START);
    told(core_ended(core, 11, 2, &error), &error);
    decide(100);
    if (core_job(core, 1)->state == EPOP_POLICY_RUNS)
        assert_int_equal(nodes_of(1), 6);
    assert_true(core_job(core, 1)->target <= 8);
}

static void test_what_the_cap_never_admits_lets_others_pass(void **state)
{
    (void)state;
    machine(16, 0.1, 16 * 100 + 8 * 200);
    for (int node = 0; node < 16; node++)
        core_set_watts(core, node, 100, 300);
    submit(core, 0, rigid(1, 9, 100));
    submit(core, 0, rigid(2, 8, 100));
    decide(0);
    assert_null(decision_on(1));
    assert_decided(DECISION_START, 2, 8, "its turn");
}

static void test_jobs_shrink_where_the_cap_is_lower_than_the_use(void **state)
{
    (void)state;
    machine(16, 0.1, 16 * 100 + 8 * 200);
    start(0, malleable(1, 8, 1, 16, 1000));
    measured(1, 0);
    for (int node = 0; node < 16; node++)
        core_set_watts(core, node, 100, 400);
    decide(1); /* 8 nodes take 800 W more than 1600 W admit: 3 of them are too many */
    assert_decided(DECISION_RESIZE, 1, 5, "8 -> 5: power is above the cap");
    decide(1.5);
    assert_null(decision_on(1));
}

static void test_who_holds_more_gives_first(void **state)
{
    struct core_job mine = malleable(1, 6, 1, 6, 10000), yours = malleable(3, 4, 1, 4, 10000);
    (void)state;
    use("gain,fairness=1");
    mine.user = 1;
    yours.user = 2;
    start(0, yours);
    start(0, mine);
    mine.id = 2;
    start(0, mine);
    for (int id = 1; id <= 3; id++)
        measured(id, 0.01);
    submit(core, 100, rigid(4, 1, 50));
    decide(100);
    assert_null(decision_on(3));
    assert_true(decision_on(1) || decision_on(2));
}

static void test_what_a_program_asks_for(void **state)
{
    struct core_job job = malleable(1, 4, 1, 16, 1000);
    (void)state;
    job.kind = EPOP_EVOLVING;
    start(0, job);
    measured(1, 0.9);
    told(core_asked(core, 1, 12, &error), &error);
    decide(1);
    assert_decided(DECISION_RESIZE, 1, 12, "4 -> 12: the program asks for 12, 12 nodes idle");
    told(core_committed(core, 2, 1, 1, 0.1, &error), &error);
    told(core_asked(core, 1, 2, &error), &error);
    decide(3);
    assert_decided(DECISION_RESIZE, 1, 2, "12 -> 2: the program asks for 2");
}

static void test_others_make_room_for_what_a_program_asks_for(void **state)
{
    struct core_job job = malleable(1, 4, 1, 16, 1000);
    (void)state;
    job.kind = EPOP_EVOLVING;
    start(0, job);
    start(0, malleable(2, 12, 4, 12, 10000));
    told(core_asked(core, 1, 8, &error), &error);
    decide(100);
    assert_decided(DECISION_RESIZE, 2, 8, "12 -> 8: makes room for a job that asks");
    told(core_committed(core, 101, 2, 1, 0.1, &error), &error);
    decide(101);
    assert_decided(DECISION_RESIZE, 1, 8, "the program asks for 8");
}

static void test_the_same_state_gives_the_same_plan(void **state)
{
    struct decision first[8];
    int count = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        machine(16, 0.1, 0);
        start(0, malleable(1, 10, 1, 16, 1000));
        start(0, malleable(2, 6, 1, 16, 1000));
        submit(core, 100, malleable(3, 8, 2, 8, 60));
        submit(core, 100, rigid(4, 3, 60));
        decide(100);
        assert_true(decisions.count > 1 && decisions.count <= 8);
        for (int i = 0; round && i < decisions.count; i++) {
            assert_int_equal(decisions.items[i].job, first[i].job);
            assert_int_equal(decisions.items[i].to, first[i].to);
            assert_string_equal(decisions.items[i].reason, first[i].reason);
        }
        assert_true(!round || count == decisions.count);
        count = decisions.count;
        memcpy(first, decisions.items, (size_t)count * sizeof *first);
    }
}

static void test_options(void **state)
{
    static const char *const wrong[] = {"gain,stay=0",     "gain,factor=0.5", "gain,fairness=2",
                                        "gain,slack=much", "gain,marginal=",  "gain,speed=1"};
    (void)state;
    policy_close(&policy);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(policy_open(&policy, wrong[i], policies, &error), &error, "policy gain");
    use("gain,stay=1,factor=3,fairness=0.5");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_idle_nodes_make_a_job_larger),
        TEST(test_not_where_it_does_not_speed_up),
        TEST(test_idle_nodes_make_the_work_of_a_job_larger),
        TEST(test_no_larger_work_while_others_wait),
        TEST(test_more_than_was_wanted_is_given_for_nothing),
        TEST(test_what_was_wanted_is_weighed_as_time),
        TEST(test_the_cost_is_set_against_the_time_left),
        TEST(test_not_beyond_what_is_wanted_where_others_would_wait_long_for_it),
        TEST(test_no_donor_that_is_done_before_its_shrink),
        TEST(test_a_phase_of_other_sizes_does_not_keep_a_job_waiting),
        TEST(test_a_rigid_phase_is_not_started_small),
        TEST(test_what_a_program_gives_back_is_left_where_that_costs_more),
        TEST(test_a_job_stays_at_a_size_for_a_while),
        TEST(test_a_running_job_makes_room),
        TEST(test_no_room_that_costs_more_than_it_saves),
        TEST(test_never_below_the_minimum_and_only_accepted_sizes),
        TEST(test_a_job_smaller_than_its_phase_accepts_is_no_donor),
        TEST(test_waiting_jobs_share_what_is_idle),
        TEST(test_a_moldable_job_starts_smaller_only_if_it_is_done_earlier),
        TEST(test_what_is_behind_does_not_delay_the_first),
        TEST(test_nodes_are_given_back_before_a_phase_that_cannot_use_them),
        TEST(test_no_growth_for_a_phase_that_is_over_soon),
        TEST(test_none_is_resized_in_a_rigid_phase),
        TEST(test_the_power_cap),
        TEST(test_what_the_cap_never_admits_lets_others_pass),
        TEST(test_jobs_shrink_where_the_cap_is_lower_than_the_use),
        TEST(test_who_holds_more_gives_first),
        TEST(test_what_a_program_asks_for),
        TEST(test_others_make_room_for_what_a_program_asks_for),
        TEST(test_the_same_state_gives_the_same_plan),
        TEST(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
