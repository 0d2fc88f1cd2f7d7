/* The policy ers, its decisions, on hand-made states of the core: who starts, shrinks and grows, when and why. */
#include "tests/unit/scheduler_decided.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int squares[] = {1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 15, 16, 19, 21, 23, 25, 28, 31};

static int set_up(void **state)
{
    (void)state;
    error = (struct error){0};
    machine(32, 0, 0);
    return policy_open(&policy, "ers,firm=0", policies, &error);
}

static void submit_named(double now, struct core_job job, const char *name)
{
    job.name = name;
    submit(core, now, job);
}

/* Submitted and started at 0. */
static void running(struct core_job job)
{
    submit(core, 0, job);
    decide(0);
    assert_decided(DECISION_START, job.id, job.wanted, "");
}

static void measured(int64_t id, double mtct)
{
    double change;
    epop_policy_sample_t sample = {
        .nodes = core_job(core, id)->nodes, .iterations = 5, .seconds = 0.01, .mtct = mtct, .trend = mtct};
    told(core_measured(core, id, &sample, &change, &error), &error);
}

static void committed(double now, int64_t id)
{
    told(core_committed(core, now, id, 0.25, 0.25, &error), &error);
}

static struct core_job cannon(int64_t id, int wanted, double limit)
{
    struct core_job job = malleable(id, wanted, 1, 31, limit);
    job.range.sizes = squares;
    job.range.count = (int)(sizeof squares / sizeof *squares);
    return job;
}

static struct core_job moldable(int64_t id, int wanted, int min, int max, double limit)
{
    struct core_job job = malleable(id, wanted, min, max, limit);
    job.kind = EPOP_MOLDABLE;
    return job;
}

/* ---- Evaluations --------------------------------------------------------------------------- */

static void test_the_first_evaluation_has_no_data(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    assert_true(decisions.wake == 60);
    decide(60);
    assert_int_equal(decisions.count, 0);
    assert_true(decisions.wake == 120);
}

static void test_an_inefficient_job_is_halved_to_its_least(void **state)
{
    double now = 60;
    (void)state;
    running(malleable(1, 16, 2, 32, 3600));
    for (int nodes = 8; nodes >= 2; nodes /= 2, now += 60) {
        measured(1, 0.4);
        decide(now);
        assert_int_equal(decisions.count, 1);
        assert_decided(DECISION_RESIZE, 1, nodes, "MTCT 0.4 above 0.1");
        committed(now + 1, 1);
    }
    measured(1, 0.4);
    decide(now);
    assert_int_equal(decisions.count, 0);
}

static void test_resizes_are_decided_at_evaluations_alone(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    measured(1, 0.4);
    decide(30);
    assert_int_equal(decisions.count, 0);
    assert_true(decisions.wake == 60);
    decide(59);
    assert_int_equal(decisions.count, 0);
    decide(60.3);
    assert_decided(DECISION_RESIZE, 1, 8, "MTCT 0.4");
    assert_true(decisions.wake == 120);
}

static void test_nothing_is_resized_before_the_state_is_steady(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    running(malleable(2, 8, 1, 32, 3600));
    measured(1, 0.4);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 8, "");
    measured(2, 0.001);
    decide(120);
    assert_int_equal(decisions.count, 0);
    committed(121, 1);
    decide(121);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESIZE, 2, 16, "MTCT 0.001 below 0.01, 16 nodes idle");
}

static void test_only_growths_follow_a_commit(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    running(malleable(2, 16, 1, 32, 3600));
    measured(1, 0.4);
    decide(60);
    measured(2, 0.4);
    committed(61, 1);
    decide(61);
    assert_int_equal(decisions.count, 0);
    decide(120);
    assert_decided(DECISION_RESIZE, 2, 8, "above");
}

static void test_the_band_leaves_a_job_alone(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    measured(1, 0.05);
    decide(60);
    assert_int_equal(decisions.count, 0);
}

static void test_no_wake_without_a_job_that_can_change(void **state)
{
    (void)state;
    running(rigid(1, 4, 100));
    assert_true(isinf(decisions.wake));
    running(moldable(2, 4, 1, 8, 100));
    assert_true(isinf(decisions.wake));
    running(malleable(3, 4, 4, 4, 100));
    assert_true(isinf(decisions.wake));
}

static void test_an_adaptation_has_to_be_worth_it(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 3600));
    measured(1, 0.4);
    decide(60);
    told(core_committed(core, 200, 1, 100, 100, &error), &error);
    measured(1, 0.4);
    told(core_told(core, 239, 1, 1001, &error), &error);
    decide(240);
    assert_int_equal(decisions.count, 0); /* 1000 s left, and adaptations take 100 s */
    use("ers,firm=0,worth=5");
    decide(240);
    assert_decided(DECISION_RESIZE, 1, 4, "above");
}

static void test_an_evolving_job_gets_what_it_asks_for(void **state)
{
    struct core_job job = malleable(1, 8, 1, 32, 3600);
    (void)state;
    job.kind = EPOP_EVOLVING;
    running(job);
    told(core_asked(core, 1, 20, &error), &error);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 20, "the program asks for 20 nodes");
    committed(61, 1);
    told(core_asked(core, 1, 3, &error), &error);
    decide(120);
    assert_decided(DECISION_RESIZE, 1, 3, "the program asks for 3 nodes");
}

static void test_what_is_asked_for_does_not_wait_for_an_evaluation(void **state)
{
    struct core_job job = malleable(1, 8, 1, 32, 3600);
    (void)state;
    use("ers,firm=0,fill=no");
    job.kind = EPOP_EVOLVING;
    running(job);
    told(core_asked(core, 1, 20, &error), &error);
    decide(13);
    assert_decided(DECISION_RESIZE, 1, 20, "the program asks for 20 nodes");
}

static epop_policy_phase_t two_phases[] = {{.name = "loop", .elastic = 1, .range = {1, 32, NULL, 0}},
                                           {.name = "write", .elastic = 0, .range = {1, 32, NULL, 0}}};

/* Its resize waits for the next elastic phase; meanwhile the others go on. */
static void test_a_resize_that_is_stuck_keeps_nobody(void **state)
{
    struct core_job job = malleable(1, 16, 1, 32, 3600);
    (void)state;
    job.phases = two_phases;
    job.phase_count = 2;
    running(job);
    running(malleable(2, 16, 1, 32, 3600));
    measured(1, 0.4);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 8, "");
    measured(2, 0.4);
    decide(120);
    assert_int_equal(decisions.count, 0);
    told(core_phase(core, 130, 1, 1, NULL, &error), &error);
    submit(core, 170, malleable(3, 8, 1, 8, 100));
    decide(180);
    assert_decided(DECISION_RESIZE, 2, 8, "above"); /* for the third; what the first has to give back does not count */
    assert_int_equal(decisions.count, 1);
}

static void test_no_resize_just_before_a_rigid_phase(void **state)
{
    double begins[] = {0, 0.2};
    struct core_job job = malleable(1, 16, 1, 32, 3600);
    (void)state;
    job.phases = two_phases;
    job.phase_count = 2;
    running(job);
    measured(1, 0.4);
    decide(60);
    committed(61, 1); /* that took 0.25 s */
    measured(1, 0.4);
    told(core_phase(core, 120, 1, 0, begins, &error), &error);
    decide(120);
    assert_int_equal(decisions.count, 0);
    begins[1] = 0.3;
    told(core_phase(core, 120, 1, 0, begins, &error), &error);
    decide(120);
    assert_decided(DECISION_RESIZE, 1, 4, "");
}

/* ---- Filling ------------------------------------------------------------------------------- */

static void test_filling_takes_the_longest_first(void **state)
{
    (void)state;
    running(malleable(1, 4, 1, 32, 1000));
    running(malleable(2, 4, 1, 32, 3000));
    running(malleable(3, 8, 1, 10, 2000));
    running(rigid(4, 9, 5000));
    measured(1, 0.001);
    measured(2, 0.001);
    measured(3, 0.001);
    decide(60); /* 7 idle */
    assert_int_equal(decisions.count, 3);
    assert_decided(DECISION_RESIZE, 2, 8, "7 nodes idle");
    assert_decided(DECISION_RESIZE, 3, 10, "3 nodes idle");
    assert_decided(DECISION_RESIZE, 1, 5, "1 nodes idle");
}

static void test_filling_keeps_to_accepted_sizes(void **state)
{
    (void)state;
    running(cannon(1, 16, 3600));
    running(rigid(2, 8, 3600));
    measured(1, 0.004);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 23, "MTCT 0.004 below 0.01, 8 nodes idle");
}

static void test_filling_can_be_off(void **state)
{
    (void)state;
    use("ers,firm=0,fill=no");
    running(malleable(1, 8, 1, 32, 3600));
    measured(1, 0.001);
    decide(60);
    assert_int_equal(decisions.count, 0);
}

/* ---- The queue ----------------------------------------------------------------------------- */

static void test_jobs_start_at_what_is_offered(void **state)
{
    (void)state;
    submit(core, 0, rigid(1, 20, 100));
    submit(core, 0, moldable(2, 16, 2, 32, 100));
    submit(core, 0, moldable(3, 8, 1, 8, 100));
    decide(0);
    assert_decided(DECISION_START, 1, 20, "20 nodes wanted");
    assert_decided(DECISION_START, 2, 12, "12 of the 16 nodes wanted");
    assert_decided(DECISION_RESERVE, 3, 8, "starts on 8 nodes, 0 are idle; 1 job ends by then");
    assert_true(decision_on(3)->time == 100);
}

static void test_starts_can_be_rigid(void **state)
{
    (void)state;
    use("ers,firm=0,start=rigid");
    submit(core, 0, rigid(1, 20, 100));
    submit(core, 0, moldable(2, 16, 2, 32, 100));
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 16, "");
}

static void test_a_start_keeps_to_accepted_sizes(void **state)
{
    struct core_job job = cannon(2, 16, 100);
    (void)state;
    job.kind = EPOP_MOLDABLE;
    running(rigid(1, 20, 100));
    submit(core, 0, job);
    decide(1);
    assert_decided(DECISION_START, 2, 11, "11 of the 16 nodes wanted: 12 idle");
}

/* 4 of 16 nodes now take 400 s; in 50 s all are there. A malleable one can grow again. */
static void test_a_small_start_is_weighed_against_waiting(void **state)
{
    (void)state;
    running(rigid(1, 28, 50));
    submit(core, 0, moldable(2, 16, 1, 16, 100));
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 16, "");
    assert_true(decision_on(2)->time == 50);
    told(core_ended(core, 0, 2, &error), &error);
    submit(core, 0, malleable(3, 16, 1, 16, 100));
    decide(0);
    assert_decided(DECISION_START, 3, 4, "4 of the 16 nodes wanted");
}

static void test_a_malleable_job_does_not_start_on_next_to_nothing(void **state)
{
    (void)state;
    running(rigid(1, 31, 50));
    submit(core, 0, malleable(2, 16, 1, 16, 100));
    decide(0);
    assert_decided(DECISION_RESERVE, 2, 16, "");
}

/* In the band it grows to what its user wanted, and no further. */
static void test_a_small_start_is_made_good(void **state)
{
    (void)state;
    running(rigid(1, 24, 50));
    submit(core, 0, malleable(2, 16, 1, 32, 1000));
    decide(0);
    assert_decided(DECISION_START, 2, 8, "");
    measured(2, 0.05);
    told(core_ended(core, 50, 1, &error), &error);
    decide(60);
    assert_decided(DECISION_RESIZE, 2, 16, "MTCT 0.05 below 0.1, started below the 16 nodes wanted, 24 nodes idle");
}

/* Rule 2a: what ends before, or needs what is over; nothing else passes the first. */
static void test_backfill_does_not_delay_the_first(void **state)
{
    (void)state;
    running(rigid(1, 24, 1000));
    submit(core, 1, rigid(2, 28, 100));
    submit(core, 1, rigid(3, 6, 2000));
    submit(core, 1, rigid(4, 4, 2000));
    submit(core, 1, rigid(5, 3, 900));
    submit(core, 1, rigid(6, 1, 1000));
    decide(10);
    assert_decided(DECISION_RESERVE, 2, 28, "starts on 28 nodes, 8 are idle; 1 job ends by then");
    assert_true(decision_on(2)->time == 1000);
    assert_null(decision_on(3));
    assert_decided(DECISION_START, 4, 4, "an earlier job does not need these");
    assert_decided(DECISION_START, 5, 3, "ends before an earlier job can start");
    assert_null(decision_on(6));
}

static void test_backfill_shrinks_to_what_is_over(void **state)
{
    (void)state;
    running(rigid(1, 24, 1000));
    submit(core, 1, rigid(2, 28, 100));
    submit(core, 1, moldable(3, 5, 1, 8, 3000));
    submit(core, 1, moldable(4, 4, 1, 8, 9000));
    decide(10);
    assert_decided(DECISION_START, 3, 4, "4 of the 5 nodes wanted");
    assert_int_equal(decisions.count, 2);
}

/* Rule 2b: a job that would still run then takes no node that the first is to have. */
static void test_filling_does_not_delay_the_first(void **state)
{
    (void)state;
    running(rigid(1, 16, 1000));
    running(malleable(2, 6, 1, 32, 5000));
    running(malleable(3, 2, 2, 32, 600));
    measured(2, 0.001);
    measured(3, 0.001);
    submit(core, 1, rigid(4, 24, 100)); /* at 1000, with 26 - 24 = 2 over */
    decide(60);
    assert_decided(DECISION_RESERVE, 4, 24, "");
    assert_true(decision_on(4)->time == 1000);
    assert_decided(DECISION_RESIZE, 2, 8, "8 nodes idle");
    assert_decided(DECISION_RESIZE, 3, 4, "6 nodes idle");
}

/* Nodes that only make its work grow; once nobody waits it has them. */
static void test_filling_with_weak_scaling_is_for_when_nobody_waits(void **state)
{
    (void)state;
    running(rigid(1, 16, 1000));
    running(malleable(2, 6, 1, 32, 5000));
    told(core_weak(core, 2, true, &error), &error);
    measured(2, 0.001);
    submit(core, 1, rigid(3, 24, 100));
    decide(60);
    assert_null(decision_on(2));
    told(core_ended(core, 61, 3, &error), &error);
    decide(120);
    assert_decided(DECISION_RESIZE, 2, 12, "nodes idle");
}

static void test_a_job_that_never_fits_keeps_nobody(void **state)
{
    (void)state;
    submit(core, 0, rigid(1, 32, 100));
    told(core_node(core, 0, false, &error), &error);
    submit(core, 0, rigid(2, 4, 5000));
    submit(core, 0, rigid(3, 31, 100));
    submit(core, 0, rigid(4, 4, 9000));
    decide(0);
    assert_int_equal(decisions.count, 2);
    assert_decided(DECISION_START, 2, 4, "");
    assert_decided(DECISION_RESERVE, 3, 31, "");
}

/* ---- Offers -------------------------------------------------------------------------------- */

static void test_efficient_jobs_make_room_for_the_first(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 1000));
    running(malleable(2, 16, 1, 32, 3000));
    measured(1, 0.001);
    measured(2, 0.001);
    submit_named(1, malleable(3, 6, 4, 8, 500), "gauss");
    decide(30);
    assert_decided(DECISION_RESERVE, 3, 6, "");
    decide(60);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESIZE, 2, 10, "MTCT 0.001 below 0.01: it can do with less, and gauss waits");
    committed(61, 2);
    decide(61);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_START, 3, 6, "6 nodes wanted, 6 idle");
}

static void test_a_job_in_the_band_makes_no_room(void **state)
{
    (void)state;
    running(malleable(1, 32, 1, 32, 1000));
    measured(1, 0.05);
    submit(core, 1, malleable(2, 6, 4, 8, 500));
    decide(60);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESERVE, 2, 6, "");
}

/* The reduction is mandatory: who waits gets all of it, not the two nodes that are idle now. */
static void test_a_start_waits_for_what_is_coming(void **state)
{
    (void)state;
    running(malleable(1, 30, 1, 32, 1000));
    measured(1, 0.4);
    submit(core, 60, moldable(2, 16, 1, 32, 500));
    decide(60);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESIZE, 1, 15, "above");
    decide(60.5);
    assert_int_equal(decisions.count, 0);
    committed(61, 1);
    decide(61);
    assert_decided(DECISION_START, 2, 16, "16 nodes wanted, 17 idle");
}

static void test_a_start_does_not_wait_for_little_more(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 1000));
    measured(1, 0.4);
    submit(core, 60, moldable(2, 20, 1, 32, 500));
    decide(60);
    assert_decided(DECISION_START, 2, 16, "16 of the 20 nodes wanted");
}

/* ---- Time balancing: rule 1 ---------------------------------------------------------------- */

static void two_cannons_and_one_that_waits(void)
{
    running(cannon(1, 16, 300));
    running(cannon(2, 16, 600));
    measured(1, 0.004);
    measured(2, 0.004);
    submit_named(1, rigid(3, 31, 900), "third");
}

static void test_balancing_brings_a_reservation_forward(void **state)
{
    double first, second;
    (void)state;
    two_cannons_and_one_that_waits();
    decide(30);
    assert_decided(DECISION_RESERVE, 3, 31, "");
    assert_true(fabs(decision_on(3)->time - 600) < 1e-6);
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 11,
                   "time balancing of 2 jobs, MTCT 0.004: third can start in 411 s, not in 540");
    assert_null(decision_on(2)); /* grows when the first has given back */
    assert_true(fabs(decision_on(3)->time - 471.43) < 0.01);
    committed(61, 1);
    decide(61);
    assert_decided(DECISION_RESIZE, 2, 21, "time balancing of 1 job");
    committed(62, 2);
    core_state(core, 62);
    first = core_job(core, 1)->left;
    second = core_job(core, 2)->left;
    assert_true(first <= second && second < 600 - 62 && 62 + second < 473);
}

/* Another size does not change when it ends. */
static void test_a_job_with_weak_scaling_is_not_balanced(void **state)
{
    (void)state;
    two_cannons_and_one_that_waits();
    for (int64_t id = 1; id <= 2; id++)
        told(core_weak(core, id, true, &error), &error);
    decide(60);
    assert_null(decision_on(1));
    assert_null(decision_on(2));
    assert_true(fabs(decision_on(3)->time - 600) < 1e-6);
}

static void test_balancing_once_is_enough(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 300));
    running(malleable(2, 16, 1, 32, 600));
    measured(1, 0.004);
    measured(2, 0.004);
    submit(core, 1, rigid(3, 31, 900));
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 10, "time balancing of 2 jobs");
    committed(61, 1);
    decide(61);
    assert_decided(DECISION_RESIZE, 2, 22, "time balancing of 1 job");
    committed(62, 2);
    for (int now = 120; now < 420; now += 60) {
        measured(1, 0.004);
        measured(2, 0.004);
        decide(now);
        assert_int_equal(decisions.count, 1); /* the reservation */
    }
}

static void test_balancing_can_be_off(void **state)
{
    (void)state;
    use("ers,firm=0,balance=no");
    two_cannons_and_one_that_waits();
    decide(60);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESERVE, 3, 31, "");
}

static void test_a_job_in_the_band_is_not_balanced(void **state)
{
    (void)state;
    two_cannons_and_one_that_waits();
    measured(2, 0.05);
    decide(60);
    assert_int_equal(decisions.count, 1);
    assert_decided(DECISION_RESERVE, 3, 31, "");
}

/* 16 and 8 nodes that end at 300 and 600, and 8 idle: (15 x 240 + 8 x 540) / 32 from 60 on. */
static void test_balancing_uses_idle_nodes(void **state)
{
    (void)state;
    running(malleable(1, 16, 1, 32, 300));
    running(malleable(2, 8, 1, 32, 600));
    measured(1, 0.001);
    measured(2, 0.001);
    submit(core, 1, rigid(3, 32, 900));
    decide(60);
    assert_null(decision_on(1)); /* 16 x 240 / 255 = 15.06, and one remains: no change */
    assert_decided(DECISION_RESIZE, 2, 16, "time balancing of 2 jobs");
    assert_true(fabs(decision_on(3)->time - (60 + 540 * 8 / 16.0)) < 1e-6);
}

/* Those that end first have what the first in the queue needs: who ends later is left alone. */
static void test_the_set_has_those_that_end_first(void **state)
{
    (void)state;
    running(malleable(1, 8, 1, 32, 300));
    running(malleable(2, 8, 1, 32, 900));
    running(malleable(3, 16, 1, 32, 9000));
    for (int id = 1; id <= 3; id++)
        measured(id, 0.001);
    use("ers,firm=0,fill=no");
    submit(core, 1, rigid(4, 16, 900)); /* what all can spare is 16: that comes first */
    decide(60);
    assert_decided(DECISION_RESIZE, 1, 4, "it can do with less");
    machine(32, 0, 0);
    running(malleable(1, 8, 8, 32, 300));
    running(malleable(2, 8, 3, 32, 900));
    running(malleable(3, 16, 16, 32, 9000));
    for (int id = 1; id <= 3; id++)
        measured(id, 0.001);
    submit(core, 1, rigid(4, 16, 900));
    decide(60);
    assert_null(decision_on(3));
}

/* ---- All of it ----------------------------------------------------------------------------- */

/* Figure 14.7: 32 nodes, Gauss too large from 16 to 1, Cannon efficient up to 28. */
static void test_gauss_and_cannon(void **state)
{
    static const int gauss[] = {8, 4, 2, 1}, grown[] = {23, 28, 28, 31};
    (void)state;
    running(malleable(1, 16, 1, 32, 7200));
    running(cannon(2, 16, 7200));
    for (int step = 0; step < 4; step++) {
        double now = 60 * (step + 1);
        measured(1, 0.5);
        measured(2, 0.004);
        decide(now);
        assert_int_equal(decisions.count, 1);
        assert_decided(DECISION_RESIZE, 1, gauss[step], "MTCT 0.5 above 0.1");
        committed(now + 1, 1);
        decide(now + 1);
        assert_int_equal(decisions.count, step != 2);
        if (step != 2)
            assert_decided(DECISION_RESIZE, 2, grown[step], "MTCT 0.004 below 0.01");
        if (step != 2)
            committed(now + 2, 2);
    }
    assert_int_equal(core_state(core, 300)->idle, 0);
}

/* One text of all that is decided. */
static void play(char *text, size_t size)
{
    size_t used = 0;
    machine(32, 0, 0);
    for (int id = 1; id <= 12; id++)
        submit(core, 0, id % 3 ? malleable(id, 3 + id % 5, 1, 16, 100 * id) : rigid(id, id, 50 * id));
    for (int now = 0; now < 600; now += 30) {
        decide(now);
        for (int i = 0; i < decisions.count; i++)
            used += (size_t)snprintf(text + used, size - used, "%d %d %d %s\n", (int)decisions.items[i].job,
                                     decisions.items[i].to, (int)decisions.items[i].time, decisions.items[i].reason);
        for (int id = 1; id <= 12; id++) {
            if (core_job(core, id)->state == EPOP_POLICY_ADAPTS)
                committed(now, id);
            if (core_job(core, id)->state == EPOP_POLICY_RUNS)
                measured(id, id % 2 ? 0.001 : 0.2);
        }
    }
    assert_true(used > 1000 && used < size);
}

static void test_the_same_state_gives_the_same_plan(void **state)
{
    static char first[65536], second[65536];
    (void)state;
    play(first, sizeof first);
    play(second, sizeof second);
    assert_string_equal(first, second);
}

static void test_the_interface_names_bad_options(void **state)
{
    struct policy other = {0};
    (void)state;
    refused(policy_open(&other, "ers,upper=high", policies, &error), &error, "upper");
    refused(policy_open(&other, "ers,uper=1", policies, &error), &error, "uper");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_the_first_evaluation_has_no_data),
                                       TEST(test_an_inefficient_job_is_halved_to_its_least),
                                       TEST(test_resizes_are_decided_at_evaluations_alone),
                                       TEST(test_nothing_is_resized_before_the_state_is_steady),
                                       TEST(test_only_growths_follow_a_commit),
                                       TEST(test_the_band_leaves_a_job_alone),
                                       TEST(test_no_wake_without_a_job_that_can_change),
                                       TEST(test_an_adaptation_has_to_be_worth_it),
                                       TEST(test_an_evolving_job_gets_what_it_asks_for),
                                       TEST(test_what_is_asked_for_does_not_wait_for_an_evaluation),
                                       TEST(test_a_resize_that_is_stuck_keeps_nobody),
                                       TEST(test_no_resize_just_before_a_rigid_phase),
                                       TEST(test_filling_takes_the_longest_first),
                                       TEST(test_filling_keeps_to_accepted_sizes),
                                       TEST(test_filling_can_be_off),
                                       TEST(test_jobs_start_at_what_is_offered),
                                       TEST(test_starts_can_be_rigid),
                                       TEST(test_a_start_keeps_to_accepted_sizes),
                                       TEST(test_a_small_start_is_weighed_against_waiting),
                                       TEST(test_a_malleable_job_does_not_start_on_next_to_nothing),
                                       TEST(test_a_small_start_is_made_good),
                                       TEST(test_backfill_does_not_delay_the_first),
                                       TEST(test_backfill_shrinks_to_what_is_over),
                                       TEST(test_filling_does_not_delay_the_first),
                                       TEST(test_filling_with_weak_scaling_is_for_when_nobody_waits),
                                       TEST(test_a_job_that_never_fits_keeps_nobody),
                                       TEST(test_efficient_jobs_make_room_for_the_first),
                                       TEST(test_a_job_in_the_band_makes_no_room),
                                       TEST(test_a_start_waits_for_what_is_coming),
                                       TEST(test_a_start_does_not_wait_for_little_more),
                                       TEST(test_balancing_brings_a_reservation_forward),
                                       TEST(test_a_job_with_weak_scaling_is_not_balanced),
                                       TEST(test_balancing_once_is_enough),
                                       TEST(test_balancing_can_be_off),
                                       TEST(test_a_job_in_the_band_is_not_balanced),
                                       TEST(test_balancing_uses_idle_nodes),
                                       TEST(test_the_set_has_those_that_end_first),
                                       TEST(test_gauss_and_cannon),
                                       TEST(test_the_same_state_gives_the_same_plan),
                                       TEST(test_the_interface_names_bad_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
