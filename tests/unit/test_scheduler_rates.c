/* A network and a file system that jobs share: who has how much, and when jobs end by that. */
#include "simulated_machine.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/simulated/rates.h"

/* ---- One rate ------------------------------------------------------------------------------ */

static double next_end(const struct rate *rate)
{
    double time = -1;
    assert_true(rate_next(rate, &time));
    return time;
}

static void assert_sound(const struct rate *rate)
{
    struct error error = {0};
    if (rate_check(rate, &error))
        fail_msg("%s", error.text);
}

/* 3 nodes share 90 bytes a second; then one has all. */
static void each_node_has_as_much(void **state)
{
    (void)state;
    struct rate rate;
    rate_init(&rate, 90, 0);
    assert_int_equal(rate_begin(&rate, 10, 7, 300, 1), 0);
    assert_near(next_end(&rate), 10 + 300 / 90.0);
    assert_int_equal(rate_begin(&rate, 10, 3, 300, 2), 0);
    assert_near(next_end(&rate), 15);
    assert_sound(&rate);
    assert_int_equal(rate_finish(&rate, 15), 3);
    assert_near(next_end(&rate), 15 + 150 / 90.0);
    assert_int_equal(rate_finish(&rate, 15 + 150 / 90.0), 7);
    assert_near(rate.moved, 600);
    assert_sound(&rate);
    rate_free(&rate);
}

static void a_link_bounds_a_node(void **state)
{
    (void)state;
    struct rate rate;
    rate_init(&rate, 90, 10);
    assert_int_equal(rate_begin(&rate, 0, 0, 300, 3), 0);
    assert_near(next_end(&rate), 10);
    assert_int_equal(rate_begin(&rate, 5, 1, 600, 15), 0); /* 18 nodes want 180, and have 5 each */
    assert_near(next_end(&rate), 13);
    assert_sound(&rate);
    assert_int_equal(rate_finish(&rate, 13), 1);
    assert_near(next_end(&rate), 14); /* 10 bytes of each node, at 10 again */
    rate_free(&rate);
}

static void who_leaves_has_the_rest(void **state)
{
    (void)state;
    struct rate rate;
    rate_init(&rate, 10, 0);
    assert_int_equal(rate_begin(&rate, 0, 0, 100, 1), 0);
    assert_int_equal(rate_begin(&rate, 0, 1, 100, 1), 0);
    assert_near(rate_leave(&rate, 4, 0), 80);
    assert_near(next_end(&rate), 12);
    assert_sound(&rate);
    assert_near(rate_leave(&rate, 12, 1), 0);
    assert_false(rate_next(&rate, &(double){0}));
    assert_near(rate.moved, 120);
    rate_free(&rate);
}

static void without_a_bound_nothing_takes_time(void **state)
{
    (void)state;
    struct rate rate;
    rate_init(&rate, 0, 0);
    assert_false(rate_takes_time(&rate));
    rate_init(&rate, 0, 5);
    assert_true(rate_takes_time(&rate));
    assert_int_equal(rate_begin(&rate, 0, 0, 100, 2), 0);
    assert_near(next_end(&rate), 10);
    assert_sound(&rate);
    rate_free(&rate);
    rate_init(&rate, 5, 0);
    assert_true(rate_takes_time(&rate));
}

static void more_than_there_is_is_found(void **state)
{
    (void)state;
    struct rate rate;
    struct error error = {0};
    rate_init(&rate, 10, 0);
    assert_int_equal(rate_begin(&rate, 0, 0, 100, 2), 0);
    rate.level = 6;
    assert_int_equal(rate_check(&rate, &error), -1);
    assert_non_null(strstr(error.text, "2 nodes (2 counted) share 12 bytes per second, of 10"));
    rate.level = 5;
    rate.moved = 50;
    assert_int_equal(rate_check(&rate, &error), -1);
    assert_non_null(strstr(error.text, "50 bytes were moved and 100 are left, of 100"));
    rate_free(&rate);
}

/* ---- Against a model that looks at every transfer at every change -------------------------------- */

enum { MANY = 40, CHANGES = 3000 };

static struct plain {
    int nodes[MANY]; /* 0: it moves nothing */
    double bytes[MANY], link;
} plain;

/* Of an even share of all nodes, or of their links. */
static double plain_share(int job)
{
    double rest = 1000, nodes = 0;
    for (int i = 0; i < MANY; i++)
        nodes += plain.nodes[i];
    double even = rest / nodes;
    return plain.nodes[job] * fmin(even, plain.link);
}

static double plain_end(int *first)
{
    double soonest = INFINITY;
    for (int i = 0; i < MANY; i++)
        if (plain.nodes[i] && plain.bytes[i] / plain_share(i) < soonest)
            soonest = plain.bytes[ *first = i] / plain_share(i);
    return soonest;
}

static void plain_pass(double seconds)
{
    double shares[MANY];
    for (int i = 0; i < MANY; i++)
        shares[i] = plain.nodes[i] ? plain_share(i) : 0;
    for (int i = 0; i < MANY; i++)
        plain.bytes[i] -= shares[i] * seconds;
}

static void begin_one(struct rate *rate, double now, int job, unsigned *dice)
{
    plain.nodes[job] = 1 + rand_r(dice) % 30;
    plain.bytes[job] = 1 + rand_r(dice) % 5000;
    assert_int_equal(rate_begin(rate, now, (size_t)job, plain.bytes[job], plain.nodes[job]), 0);
}

static void leave_one(struct rate *rate, double now, int job)
{
    assert_true(fabs(rate_leave(rate, now, (size_t)job) - plain.bytes[job]) < 1e-6);
    plain.nodes[job] = 0;
}

static void finish_one(struct rate *rate, double *now)
{
    int first = -1;
    double end = *now + plain_end(&first), time;
    assert_int_equal(rate_next(rate, &time), first >= 0);
    if (first < 0)
        return;
    assert_true(fabs(time - end) < 1e-6);
    plain_pass(time - *now);
    *now = time;
    size_t job = rate_finish(rate, time);
    assert_true(plain.nodes[job] && fabs(plain.bytes[job]) < 1e-6); /* of two that end at once, either */
    plain.nodes[job] = 0;
}

static void changes_are_as_if_all_were_looked_at(void **state)
{
    (void)state;
    unsigned dice = 4;
    for (int round = 0; round < 4; round++) {
        struct rate rate;
        double now = 0;
        plain = (struct plain){.link = round % 2 ? 8 : INFINITY};
        rate_init(&rate, 1000, round % 2 ? 8 : 0);
        for (int i = 0; i < CHANGES; i++) {
            int job = rand_r(&dice) % MANY, first;
            double soonest = plain_end(&first), pass = fmin(0.01 * (rand_r(&dice) % 50), soonest / 2);
            plain_pass(pass);
            now += pass;
            if (!plain.nodes[job])
                begin_one(&rate, now, job, &dice);
            else if (rand_r(&dice) % 4)
                finish_one(&rate, &now);
            else
                leave_one(&rate, now, job);
            assert_sound(&rate);
        }
        rate_free(&rate);
    }
}

/* ---- Whole jobs, by hand -------------------------------------------------------------------- */

/* Of the job's first phase: bytes at the end of every iteration, of which one takes a second. */
static struct work *add_mover(struct machine *machine, double submit, int nodes, double iterations, double network,
                              double files)
{
    struct work *work = add_job(machine, submit, nodes, iterations);
    work->rates = &machine->workload.rates;
    work->phases[0].moves[SHARED_NETWORK] = (struct move){network, 1};
    work->phases[0].moves[SHARED_FILE_SYSTEM] = (struct move){files, 1};
    return work;
}

static void set_rates(struct machine *machine, double network, double files, double link)
{
    machine->workload.rates = (struct rates){{network, files}, link};
}

/* 10 iterations of a second, 20 bytes after each at 40 a second and 30 at 10. */
static void alone_it_takes_the_sum(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    set_rates(&machine, 40, 10, 0);
    struct work *work = add_mover(&machine, 5, 2, 10, 20, 30);
    assert_near(work_seconds(work, 2), 10 * (1 + 0.5 + 3));
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 5, 50);
    assert_near(schedule.metrics.mean_slowdown, 1);
    assert_near(schedule.metrics.rate_used[SHARED_NETWORK], 200 / (40 * 45.0));
    assert_near(schedule.metrics.rate_used[SHARED_FILE_SYSTEM], 300 / (10 * 45.0));
    schedule_free(&schedule);
    set_rates(&machine, 40, 10, 2); /* 2 nodes move 4 bytes a second */
    assert_near(work_seconds(work, 2), 10 * (1 + 5 + 7.5));
    schedule = run(&machine);
    assert_runs(&schedule, 1, 5, 140);
    schedule_free(&schedule);
}

/* After every 4 iterations; behind the last two of 10 half as many bytes. */
static void some_iterations_move_nothing(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    set_rates(&machine, 0, 10, 0);
    struct work *work = add_mover(&machine, 0, 2, 10, 0, 0);
    work->phases[0].moves[SHARED_FILE_SYSTEM] = (struct move){80, 4};
    add_phase(work, true, 4)->moves[SHARED_FILE_SYSTEM] = (struct move){80, 4};
    assert_near(work_seconds(work, 2), 10 + 20 + 2 + 8);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 40);
    schedule_free(&schedule);
}

/* Both compute for a second, then share 10 bytes a second. */
static void two_at_once_take_twice_as_long_to_move(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    set_rates(&machine, 0, 10, 0);
    add_mover(&machine, 0, 2, 5, 0, 30);
    add_mover(&machine, 0, 2, 5, 0, 30);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 5 * (1 + 6));
    assert_runs(&schedule, 2, 0, 5 * (1 + 6));
    assert_near(schedule.metrics.rate_used[SHARED_FILE_SYSTEM], 6 / 7.0);
    schedule_free(&schedule);
}

/* Job 2 ends its 50 bytes after 10 s at 5 a second; job 1 has the last 50 of its 100 at 10. */
static void who_ends_gives_its_share_at_once(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    set_rates(&machine, 10, 0, 0);
    add_mover(&machine, 0, 1, 1, 100, 0);
    add_mover(&machine, 0, 1, 1, 50, 0);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 0, 11);
    assert_runs(&schedule, 1, 0, 16);
    schedule_free(&schedule);
}

/* Job 1 moves 100 bytes; job 2 comes 5 s after it has begun, on three times as many nodes, and takes 3/4. */
static void who_comes_takes_its_share_at_once(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    set_rates(&machine, 10, 0, 0);
    add_mover(&machine, 0, 1, 1, 100, 0);
    add_mover(&machine, 5, 3, 1, 30, 0);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 5, 10);
    assert_runs(&schedule, 1, 0, 6 + 4 + 4);
    schedule_free(&schedule);
}

/* 30 of 100 bytes are moved when it stands still for two seconds; 4 nodes move the rest twice as fast. */
static void a_resize_interrupts_a_transfer(void **state)
{
    (void)state;
    static const struct step list[] = {{3, 1, 4}};
    struct machine machine;
    set_up(&machine, 5, &following);
    set_rates(&machine, 100, 0, 5);
    struct work *work = add_mover(&machine, 0, 2, 1, 100, 0);
    work->kind = EPOP_MALLEABLE;
    work->range = (epop_policy_range_t){.min = 1, .max = 4};
    machine.simulation.costs.base = 2;
    machine.simulation.latency = 1;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 6 + 70 / 20.0);
    assert_int_equal(schedule.jobs[0].resizes, 1);
    schedule_free(&schedule);
}

/* Job 1 stands still from 4 to 6: job 2 has all of the rate, which they share before and after it. */
static void who_stands_still_moves_nothing(void **state)
{
    (void)state;
    static const struct step list[] = {{3, 1, 1}};
    struct machine machine;
    set_up(&machine, 4, &following);
    set_rates(&machine, 12, 0, 0);
    struct work *work = add_mover(&machine, 0, 2, 1, 60, 0);
    work->kind = EPOP_MALLEABLE;
    work->range = (epop_policy_range_t){.min = 1, .max = 4};
    add_mover(&machine, 0, 2, 1, 60, 0);
    machine.simulation.costs.base = 2;
    machine.simulation.latency = 1;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    /* By 4 both have moved 18; by 6 job 2 has 42; its last 18 go at 8 a second, beside job 1 on one node at 4. */
    assert_runs(&schedule, 2, 0, 6 + 18 / 8.0);
    assert_runs(&schedule, 1, 0, 6 + 18 / 8.0 + 33 / 12.0);
    schedule_free(&schedule);
}

/* Ready at 2, still for a second, then 60 bytes from 2 nodes; job 2 has a half of 12 a second meanwhile, and all after.
 */
static void the_bytes_of_a_resize_share_the_network(void **state)
{
    (void)state;
    static const struct step list[] = {{1, 1, 4}};
    struct machine machine;
    set_up(&machine, 6, &following);
    set_rates(&machine, 12, 0, 0);
    struct work *work = add_malleable(&machine, 0, 2, 20, 4);
    work->bytes = 60;
    add_mover(&machine, 0, 2, 1, 96, 0);
    machine.simulation.costs = (struct core_costs){0.2, 0.2, 1e6};
    machine.simulation.latency = 1;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    /* Job 2 has moved 24 when the bytes of the resize begin at 3, and 60 more when these are over at 13. */
    assert_runs(&schedule, 2, 0, 13 + 12 / 12.0);
    assert_near(schedule.jobs[0].stalled, 11);
    assert_runs(&schedule, 1, 0, 13 + 18 / 2.0);
    schedule_free(&schedule);
}

/* The same, but a node of job 1 fails at 8, in the transfer: job 2 has moved 54 by then. */
static void a_resize_that_ends_gives_its_share(void **state)
{
    (void)state;
    static const struct step list[] = {{1, 1, 4}};
    static struct node_fault faults[] = {{.time = 8, .node = 0}};
    struct machine machine;
    set_up(&machine, 6, &following);
    set_rates(&machine, 12, 0, 0);
    add_malleable(&machine, 0, 2, 20, 4)->bytes = 60;
    add_mover(&machine, 0, 2, 1, 96, 0);
    machine.simulation.costs.base = 1;
    machine.simulation.latency = 1;
    machine.script = (struct script){.nodes = faults, .node_count = 1};
    machine.simulation.script = &machine.script;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 0, 8 + 42 / 12.0);
    assert_runs(&schedule, 1, 8, 28);
    assert_int_equal(schedule.jobs[0].requeues, 1);
    schedule_free(&schedule);
}

/* Its node fails at 3, in the transfer; job 2 has the whole rate then, and job 1 begins anew at 5. */
static void who_is_stopped_gives_its_share(void **state)
{
    (void)state;
    static struct node_fault faults[] = {{.time = 3, .node = 0}, {.time = 5, .node = 0, .up = true}};
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    set_rates(&machine, 10, 0, 0);
    add_mover(&machine, 0, 1, 1, 50, 0);
    add_mover(&machine, 0, 1, 1, 30, 0);
    machine.script = (struct script){.nodes = faults, .node_count = 2};
    machine.simulation.script = &machine.script;
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 0, 5);
    assert_runs(&schedule, 1, 5, 11);
    schedule_free(&schedule);
}

static void who_is_killed_gives_its_share(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    set_rates(&machine, 10, 0, 0);
    add_mover(&machine, 0, 1, 1, 50, 0)->limit = 3;
    add_mover(&machine, 0, 1, 1, 50, 0)->limit = 100;
    machine.simulation.kill_at_limit = true;
    struct schedule schedule = run(&machine);
    assert_int_equal(schedule.jobs[0].outcome, OUTCOME_FAILED);
    assert_near(schedule.jobs[0].end, 3);
    assert_runs(&schedule, 2, 0, 3 + 40 / 10.0);
    schedule_free(&schedule);
}

/* A workload that says what it moves, on a machine that says nothing. */
static void without_rates_moving_takes_no_time(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    add_mover(&machine, 0, 2, 5, 1e15, 1e15);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 5);
    assert_false(schedule.metrics.has_rate[SHARED_NETWORK] || schedule.metrics.has_rate[SHARED_FILE_SYSTEM]);
    schedule_free(&schedule);
}

/* ---- What policies see ---------------------------------------------------------------------- */

static struct seen {
    epop_policy_sample_t sample;
    double left;
} seen;

static void watch(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    const epop_policy_job_t *job = find_job(state, 1);
    follow(settings, state, plan);
    if (job && job->sample_count)
        seen = (struct seen){job->samples[job->sample_count - 1], job->left};
}

/* Job 1 as a policy sees it after five iterations. The first sample of a malleable job is news. */
static void see(struct machine *machine)
{
    static const epop_policy_t watching = {
        .abi_version = EPOP_POLICY_ABI_VERSION, .struct_size = sizeof watching, .name = "watching", .decide = watch};
    machine->policy.table = watching;
    machine->works[0].kind = EPOP_MALLEABLE;
    machine->works[0].progress = true;
    list_steps(NULL, 0);
    seen = (struct seen){.left = -1};
    struct schedule schedule = run(machine);
    schedule_free(&schedule);
}

/* An iteration computes for 1 s, moves 1 s on the network and 3 s in the file system: 1 s of 4 s is not in MPI. */
static void a_sample_has_what_an_iteration_takes(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &following);
    set_rates(&machine, 20, 10, 0);
    add_mover(&machine, 0, 2, 8, 20, 30);
    see(&machine);
    assert_near(seen.sample.seconds, 5);
    assert_near(seen.sample.iterations, 5);
    assert_near(seen.sample.mtct, 1 / 4.0);
    assert_near(seen.left, 3 * 5);
}

/* The same beside another job that moves as much: each has half of either rate. */
static void a_sample_has_what_others_take(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &following);
    set_rates(&machine, 20, 10, 0);
    add_mover(&machine, 0, 2, 8, 20, 30);
    add_mover(&machine, 0, 2, 8, 20, 30);
    see(&machine);
    assert_near(seen.sample.seconds, 1 + 2 + 6);
    assert_near(seen.sample.mtct, 2 / 7.0);
    assert_near(seen.left, 3 * 9);
}

/* What does not speed up counts as well: half of the time at 2 nodes is in MPI without any bytes. */
static void the_speedup_counts_in_a_sample(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &following);
    set_rates(&machine, 20, 0, 0);
    struct work *work = add_mover(&machine, 0, 2, 8, 20, 0);
    work->phases[0].speedup = (struct speedup){.model = SPEEDUP_AMDAHL, .serial = 1};
    work->phases[0].seconds = 2;
    see(&machine);
    assert_near(seen.sample.seconds, 3);
    assert_near(seen.sample.mtct, (1 + 1) / 1.0);
}

/* Samples are taken while it computes, and behind a transfer that is due then: the first after 5 iterations of 4 + 1.
 */
static void samples_come_between_transfers(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &following);
    set_rates(&machine, 0, 10, 0);
    add_mover(&machine, 0, 2, 8, 0, 0)->phases[0].moves[SHARED_FILE_SYSTEM] = (struct move){50, 4};
    see(&machine);
    assert_near(seen.sample.iterations, 5);
    assert_near(seen.sample.seconds, (5 + 5) / 5.0);
    assert_near(seen.left, 3 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_has_as_much),
        cmocka_unit_test(a_link_bounds_a_node),
        cmocka_unit_test(who_leaves_has_the_rest),
        cmocka_unit_test(without_a_bound_nothing_takes_time),
        cmocka_unit_test(more_than_there_is_is_found),
        cmocka_unit_test(changes_are_as_if_all_were_looked_at),
        cmocka_unit_test(alone_it_takes_the_sum),
        cmocka_unit_test(some_iterations_move_nothing),
        cmocka_unit_test(two_at_once_take_twice_as_long_to_move),
        cmocka_unit_test(who_ends_gives_its_share_at_once),
        cmocka_unit_test(who_comes_takes_its_share_at_once),
        cmocka_unit_test(a_resize_interrupts_a_transfer),
        cmocka_unit_test(who_stands_still_moves_nothing),
        cmocka_unit_test(the_bytes_of_a_resize_share_the_network),
        cmocka_unit_test(a_resize_that_ends_gives_its_share),
        cmocka_unit_test(who_is_stopped_gives_its_share),
        cmocka_unit_test(who_is_killed_gives_its_share),
        cmocka_unit_test(without_rates_moving_takes_no_time),
        cmocka_unit_test(a_sample_has_what_an_iteration_takes),
        cmocka_unit_test(a_sample_has_what_others_take),
        cmocka_unit_test(the_speedup_counts_in_a_sample),
        cmocka_unit_test(samples_come_between_transfers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
