/* The scheduler's core: what the site tells becomes the state that policies see, and what cannot be changes nothing. */
#include "tests/unit/scheduler_machine.h"

#include <math.h>
#include <stdio.h>

static struct core *core;
static struct error error;
static int to; /* what change_size resizes the first running job to */

static int set_up(void **state)
{
    (void)state;
    error = (struct error){0};
    core = core_create(8, &no_costs, 0);
    return core ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    core_destroy(core);
    return 0;
}

static void start_all(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++) {
        if (state->waiting[i]->wanted <= epop_plan_idle(plan))
            epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "it fits");
    }
}

static void change_size(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_resize(plan, state->running[0], to, "to %d", to);
}

static void start(double now, struct core_job job)
{
    struct policy policy = of(start_all);
    submit(core, now, job);
    decide_at(core, now, &policy);
    assert_int_equal(core_job(core, job.id)->state, EPOP_POLICY_RUNS);
}

static struct decision resize(double now, int nodes)
{
    struct policy policy = of(change_size);
    to = nodes;
    return decide_at(core, now, &policy).items[0];
}

static void assert_left(double now, int64_t id, double left)
{
    core_state(core, now);
    assert_true(fabs(core_job(core, id)->left - left) < 1e-9);
}

static void test_a_new_machine_is_idle(void **state)
{
    const epop_policy_state_t *view = core_state(core, 5);
    (void)state;
    assert_true(view->now == 5 && view->node_count == 8 && view->idle == 8 && !view->down && !view->coming);
    assert_true(!view->running_count && !view->waiting_count);
    for (int i = 0; i < 8; i++)
        assert_true(view->nodes[i].state == EPOP_NODE_IDLE && view->nodes[i].job == -1);
    assert_null(core_job(core, 1));
}

static void test_waiting_jobs_are_by_submission_then_number(void **state)
{
    const epop_policy_state_t *view;
    (void)state;
    submit(core, 1, rigid(9, 1, 10));
    submit(core, 1, rigid(3, 1, 10));
    submit(core, 2, rigid(1, 1, 10));
    view = core_state(core, 2);
    assert_int_equal(view->waiting_count, 3);
    assert_int_equal(view->waiting[0]->id, 3);
    assert_int_equal(view->waiting[1]->id, 9);
    assert_int_equal(view->waiting[2]->id, 1);
    assert_true(view->waiting[0]->submitted == 1 && view->waiting[0]->left == 10 && view->waiting[0]->reserved < 0);
}

static void assert_queue(double now, int first, int second, int third)
{
    const epop_policy_state_t *view = core_state(core, now);
    assert_int_equal(view->waiting_count, 3);
    assert_int_equal(view->waiting[0]->id, first);
    assert_int_equal(view->waiting[1]->id, second);
    assert_int_equal(view->waiting[2]->id, third);
}

static void submit_with_priority(double now, struct core_job job, int priority)
{
    job.priority = priority;
    submit(core, now, job);
}

static void test_the_highest_priority_comes_first(void **state)
{
    (void)state;
    submit(core, 1, rigid(1, 1, 10));
    submit_with_priority(2, rigid(2, 1, 10), -3);
    submit_with_priority(3, rigid(3, 1, 10), 7);
    assert_queue(3, 3, 1, 2);
    told(core_priority(core, 2, 8, &error), &error);
    assert_queue(4, 2, 3, 1);
    told(core_priority(core, 3, 0, &error), &error);
    assert_queue(5, 2, 1, 3);
    assert_int_equal(core_job(core, 2)->priority, 8);
    refused(core_priority(core, 4, 1, &error), &error, "job 4: there is none");
}

static struct core_job of_account(struct core_job job, const char *account)
{
    job.account = account;
    return job;
}

static void set_shares(const char *text, double half_life)
{
    struct shares shares;
    told(shares_read(&shares, text, half_life, &error), &error);
    assert_int_equal(core_set_shares(core, &shares), 0);
    shares_free(&shares);
}

/* Alice runs on 6 nodes with a share of 2, bob on 2 with one: she is over her share, and he is not. */
static void test_who_used_least_over_its_share_comes_first(void **state)
{
    (void)state;
    set_shares("alice=2,bob=1", 0);
    start(0, of_account(rigid(1, 6, 100), "alice"));
    start(0, of_account(rigid(2, 2, 100), "bob"));
    submit(core, 1, of_account(rigid(3, 1, 10), "alice"));
    submit(core, 2, of_account(rigid(4, 1, 10), "bob"));
    submit(core, 3, of_account(rigid(5, 1, 10), "carol"));
    assert_queue(4, 5, 4, 3);
    assert_true(fabs(core_job(core, 3)->usage - 0.75 / 0.5) < 1e-9);
    assert_true(fabs(core_job(core, 4)->usage - 0.25 / 0.25) < 1e-9);
    assert_string_equal(core_job(core, 4)->account, "bob");
    told(core_ended(core, 10, 1, &error), &error); /* 60 node seconds; bob goes on: 20 at 10 s, 40 at 20 s */
    assert_queue(14, 5, 4, 3);
    assert_queue(16, 5, 3, 4);
    told(core_priority(core, 4, 1, &error), &error);
    assert_queue(16, 4, 5, 3);
}

static void test_a_job_is_counted_for_another_account(void **state)
{
    (void)state;
    set_shares("alice=2,bob=1", 0);
    start(0, of_account(rigid(1, 6, 100), "alice"));
    submit(core, 1, of_account(rigid(3, 1, 10), "alice"));
    submit(core, 2, of_account(rigid(4, 1, 10), "alice"));
    submit(core, 3, of_account(rigid(5, 1, 10), "alice"));
    assert_queue(3, 3, 4, 5);
    told(core_account(core, 4, "bob", &error), &error);
    assert_queue(4, 4, 3, 5);
    assert_string_equal(core_job(core, 4)->account, "bob");
    refused(core_account(core, 1, "bob", &error), &error, "job 1: it runs");
    refused(core_account(core, 7, "bob", &error), &error, "job 7: there is none");
}

static void promise_first(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_reserve(plan, state->waiting[0], state->waiting[0]->wanted, 50, "it is first");
}

static void test_a_promise_keeps_its_place_before_shares(void **state)
{
    struct policy policy = of(promise_first);
    (void)state;
    set_shares("*=1", 0);
    start(0, of_account(rigid(1, 4, 100), "alice"));
    start(0, of_account(rigid(2, 2, 100), "bob"));
    submit(core, 1, of_account(rigid(3, 8, 10), "bob"));
    submit(core, 1, of_account(rigid(4, 8, 10), "alice"));
    submit(core, 1, of_account(rigid(5, 8, 10), "alice"));
    decide_at(core, 2, &policy);
    assert_queue(2, 3, 4, 5);
    told(core_ended(core, 3, 1, &error), &error); /* from 6 s on bob has used more than alice */
    assert_queue(20, 3, 4, 5);
    submit(core, 20, of_account(rigid(6, 8, 10), "bob"));
    told(core_ended(core, 21, 4, &error), &error);
    assert_queue(22, 3, 5, 6);
}

static void test_nodes_count_as_used_while_they_are_held(void **state)
{
    (void)state;
    set_shares("*=1", 0);
    start(0, of_account(malleable(1, 2, 1, 8, 100), "alice"));
    resize(10, 6); /* 20 so far; 6 from now on */
    told(core_committed(core, 20, 1, 10, 0, &error), &error);
    resize(30, 3); /* 140; they are given back at 40 */
    told(core_committed(core, 40, 1, 10, 0, &error), &error);
    core_state(core, 50);
    assert_true(fabs(core_shares(core)->items[0]->used - 230) < 1e-9);
    told(core_requeued(core, 60, 1, &error), &error);
    core_state(core, 100);
    assert_true(fabs(core_shares(core)->items[0]->used - 260) < 1e-9);
}

static struct core_job until(struct core_job job, double deadline)
{
    job.deadline = deadline;
    return job;
}

static void test_who_has_to_start_first_for_its_deadline_comes_first(void **state)
{
    (void)state;
    submit(core, 1, rigid(1, 1, 10));
    submit(core, 2, until(rigid(2, 1, 10), 100)); /* by 90 */
    submit(core, 3, until(rigid(3, 1, 50), 110)); /* by 60 */
    assert_queue(4, 3, 2, 1);
    assert_queue(60, 3, 2, 1);
    assert_queue(61, 2, 1, 3); /* it cannot meet it any more, and waits as if there were none */
    told(core_priority(core, 3, 1, &error), &error);
    assert_queue(62, 3, 2, 1);
    assert_queue(91, 3, 1, 2);
    assert_true(core_job(core, 2)->deadline == 100 && core_job(core, 1)->deadline <= 0);
    submit(core, 91, until(malleable(4, 2, 1, 8, 40), 101)); /* by 61; on 8 nodes by 91 */
    core_state(core, 91);
    assert_int_equal(core_state(core, 91)->waiting[1]->id, 4);
    assert_int_equal(core_state(core, 92)->waiting[1]->id, 1);
    const struct core_job never = until(rigid(5, 1, 10), INFINITY);
    refused(core_submit(core, 92, &never, &error), &error, "job 5: a deadline at inf");
}

/* With the limit that follows from it, where its user gave none. */
static void test_a_deadline_is_changed(void **state)
{
    (void)state;
    submit(core, 1, rigid(1, 1, 10));
    submit(core, 2, until(rigid(2, 1, 10), 100)); /* by 90 */
    submit(core, 3, rigid(3, 1, 50));
    assert_queue(4, 2, 1, 3);
    told(core_deadline(core, 5, 3, 110, 50, &error), &error); /* by 60 */
    assert_queue(5, 3, 2, 1);
    told(core_deadline(core, 6, 3, 110, 5, &error), &error); /* by 105 */
    assert_queue(6, 2, 3, 1);
    assert_true(core_job(core, 3)->left == 5 && core_job(core, 3)->limit == 5);
    told(core_deadline(core, 7, 2, 0, 10, &error), &error);
    assert_queue(7, 3, 1, 2);
    refused(core_deadline(core, 8, 2, -1, 10, &error), &error, "job 2: a deadline at -1");
    refused(core_deadline(core, 8, 2, 100, 0, &error), &error, "job 2: a limit of 0 s");
    refused(core_deadline(core, 8, 7, 100, 10, &error), &error, "job 7: there is none");
}

/* With weak scaling it takes as long on more nodes, and waits as if there were no deadline. */
static void test_more_nodes_help_no_weak_job_to_meet_its_deadline(void **state)
{
    (void)state;
    submit(core, 1, rigid(1, 1, 10));
    submit(core, 2, rigid(2, 1, 10));
    submit(core, 3, until(malleable(3, 2, 1, 8, 40), 34)); /* on 8 nodes by 24 */
    assert_queue(4, 3, 1, 2);
    told(core_weak(core, 3, true, &error), &error);
    assert_queue(5, 1, 2, 3);
    told(core_weak(core, 3, false, &error), &error);
    assert_queue(6, 3, 1, 2);
}

static void test_a_promise_keeps_its_place_before_deadlines(void **state)
{
    struct policy policy = of(promise_first);
    (void)state;
    start(0, rigid(1, 4, 100));
    submit(core, 1, rigid(2, 8, 10));
    submit(core, 1, rigid(3, 8, 10));
    decide_at(core, 2, &policy);
    submit(core, 3, until(rigid(4, 8, 10), 1000));
    assert_queue(4, 2, 4, 3);
}

static int follows(const void *settings)
{
    (void)settings;
    return 1;
}

static void assert_easy_starts(double now, double first, double second)
{
    core_state(core, now);
    assert_true(fabs(core_job(core, 2)->easy_start - first) < 1e-6);
    assert_true(fabs(core_job(core, 3)->easy_start - second) < 1e-6);
}

static void test_easy_has_the_same_order(void **state)
{
    struct policy policy = of(start_all);
    (void)state;
    policy.table.follows_easy = follows;
    submit(core, 0, malleable(1, 8, 1, 8, 100));
    decide_at(core, 0, &policy);
    submit(core, 1, rigid(2, 8, 50));
    submit(core, 2, rigid(3, 8, 10));
    decide_at(core, 2, &policy);
    assert_easy_starts(2, 100, 150);
    told(core_priority(core, 3, 1, &error), &error);
    assert_easy_starts(3, 110, 100);
    submit_with_priority(4, rigid(4, 8, 1000), 2);
    assert_easy_starts(4, 1110, 1100);
    told(core_priority(core, 1, 9, &error), &error); /* it runs, so that nothing changes */
    assert_easy_starts(5, 1110, 1100);
}

static void test_all_of_a_job_is_copied(void **state)
{
    int sizes[] = {1, 4};
    char name[] = "cannon", inner[] = "multiply";
    epop_policy_phase_t phases[] = {{.name = inner, .elastic = 1, .range = {1, 4, sizes, 2}},
                                    {.range = {1, 8, NULL, 0}}};
    struct core_job job = malleable(1, 4, 1, 4, 100);
    const epop_policy_job_t *view;
    (void)state;
    job.name = name;
    job.range = (epop_policy_range_t){1, 8, sizes, 2}; /* the sizes say it better */
    job.phases = phases;
    job.phase_count = 2;
    submit(core, 0, job);
    memset(sizes, 0, sizeof sizes);
    memset(name, 'x', 3);
    memset(inner, 'x', 3);
    memset(phases, 0, sizeof phases);
    view = core_job(core, 1);
    assert_string_equal(view->name, "cannon");
    assert_int_equal(view->range.sizes[1], 4);
    assert_true(view->range.min == 1 && view->range.max == 4);
    assert_int_equal(view->phase_count, 2);
    assert_string_equal(view->phases[0].name, "multiply");
    assert_int_equal(view->phases[0].range.sizes[0], 1);
    assert_true(view->phases[0].begins == 0 && view->phases[1].begins < 0);
}

static void test_jobs_that_cannot_be(void **state)
{
    int falling[] = {4, 2};
    struct core_job job = rigid(1, 9, 10);
    (void)state;
    refused(core_submit(core, 0, &job, &error), &error, "wants 9 nodes, and the machine has 8");
    job = rigid(1, 0, 10);
    refused(core_submit(core, 0, &job, &error), &error, "from 0 to 0 nodes");
    job = rigid(1, 2, -1);
    refused(core_submit(core, 0, &job, &error), &error, "limit of -1 s");
    job = rigid(1, 2, NAN);
    refused(core_submit(core, 0, &job, &error), &error, "limit of");
    job = malleable(1, 5, 1, 4, 10);
    refused(core_submit(core, 0, &job, &error), &error, "wants 5 nodes, but accepts 1 to 4");
    job.kind = EPOP_RIGID;
    job.wanted = 2;
    refused(core_submit(core, 0, &job, &error), &error, "it is rigid, but accepts 1 to 4");
    job = malleable(1, 4, 1, 4, 10);
    job.range.sizes = falling;
    job.range.count = 2;
    refused(core_submit(core, 0, &job, &error), &error, "size 2 in a list");
    job = rigid(1, 1, 10);
    submit(core, 3, job);
    refused(core_submit(core, 3, &job, &error), &error, "there is one of that number");
    job.id = 2;
    refused(core_submit(core, 2, &job, &error), &error, "time goes from 3.0");
    assert_int_equal(core_state(core, 3)->waiting_count, 1);
}

static void test_a_start_takes_the_shortest_run_that_fits(void **state)
{
    struct policy policy = of(start_all);
    struct decisions decisions;
    (void)state;
    told(core_node(core, 3, false, &error), &error); /* runs of 3 and 4 */
    submit(core, 0, rigid(1, 2, 10));
    submit(core, 0, rigid(2, 4, 10));
    submit(core, 0, rigid(3, 1, 10));
    decisions = decide_at(core, 1, &policy);
    assert_int_equal(decisions.count, 3);
    assert_nodes(&decisions.items[0], (int[]){0, 1}, 2);
    assert_nodes(&decisions.items[1], (int[]){4, 5, 6, 7}, 4);
    assert_nodes(&decisions.items[2], (int[]){2}, 1);
    assert_string_equal(decisions.items[0].reason, "it fits");
    assert_true(isinf(decisions.wake));
    assert_int_equal(core_state(core, 1)->idle, 0);
    assert_int_equal(core_state(core, 1)->nodes[5].job, 2);
}

static void test_nodes_apart_where_no_run_fits(void **state)
{
    struct policy policy = of(start_all);
    struct decisions decisions;
    (void)state;
    told(core_node(core, 2, false, &error), &error);
    told(core_node(core, 5, false, &error), &error);
    submit(core, 0, rigid(1, 5, 10));
    decisions = decide_at(core, 1, &policy);
    assert_nodes(&decisions.items[0], (int[]){0, 1, 3, 4, 6}, 5);
}

static void test_a_job_that_ends_is_forgotten(void **state)
{
    (void)state;
    start(0, rigid(1, 3, 10));
    submit(core, 1, rigid(2, 8, 10));
    told(core_ended(core, 2, 1, &error), &error);
    assert_null(core_job(core, 1));
    assert_int_equal(core_state(core, 2)->idle, 8);
    told(core_ended(core, 3, 2, &error), &error);
    assert_int_equal(core_state(core, 3)->waiting_count, 0);
    refused(core_ended(core, 3, 2, &error), &error, "there is none");
}

static void test_a_growth_takes_nodes_at_once(void **state)
{
    struct decision decision;
    (void)state;
    start(0, malleable(1, 2, 1, 8, 100));
    decision = resize(10, 5);
    assert_true(decision.kind == DECISION_RESIZE && decision.from == 2 && decision.to == 5);
    assert_nodes(&decision, (int[]){2, 3, 4}, 3);
    assert_string_equal(decision.reason, "to 5");
    assert_int_equal(core_job(core, 1)->state, EPOP_POLICY_ADAPTS);
    assert_int_equal(core_job(core, 1)->nodes, 2);
    assert_int_equal(core_job(core, 1)->target, 5);
    assert_int_equal(core_state(core, 10)->idle, 3);
    told(core_committed(core, 12, 1, 2, 0.5, &error), &error);
    assert_int_equal(core_job(core, 1)->nodes, 5);
    assert_true(core_job(core, 1)->resized == 12 && core_job(core, 1)->resizes == 1);
    assert_true(core_job(core, 1)->resize_cost == 0.5 && core_job(core, 1)->resize_latency == 2);
}

static void test_a_shrink_gives_nodes_back_when_it_commits(void **state)
{
    struct decision decision;
    (void)state;
    start(0, malleable(1, 2, 1, 8, 100));
    resize(10, 5);
    told(core_committed(core, 10, 1, 0, 0, &error), &error);
    decision = resize(20, 1);
    assert_nodes(&decision, (int[]){1, 2, 3, 4}, 4);
    assert_int_equal(core_state(core, 20)->idle, 3);
    assert_int_equal(core_state(core, 20)->coming, 4);
    told(core_committed(core, 21, 1, 1, 0, &error), &error);
    assert_int_equal(core_state(core, 21)->idle, 7);
    assert_int_equal(core_state(core, 21)->coming, 0);
    assert_int_equal(core_job(core, 1)->node_list[0], 0);
}

static void test_a_resize_that_is_refused(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    resize(1, 6);
    told(core_refused(core, 2, 1, &error), &error);
    assert_true(core_job(core, 1)->state == EPOP_POLICY_RUNS && core_job(core, 1)->target == 4);
    assert_int_equal(core_state(core, 2)->idle, 4);
    resize(3, 2);
    told(core_refused(core, 4, 1, &error), &error);
    assert_int_equal(core_state(core, 4)->idle, 4);
    assert_int_equal(core_state(core, 4)->coming, 0);
    assert_int_equal(core_job(core, 1)->resizes, 0);
    refused(core_refused(core, 4, 1, &error), &error, "no resize of it is under way");
    refused(core_committed(core, 4, 1, 0, 0, &error), &error, "no resize of it is under way");
}

static void test_a_job_may_end_while_it_adapts(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    resize(1, 6);
    told(core_ended(core, 2, 1, &error), &error);
    assert_int_equal(core_state(core, 2)->idle, 8);
    start(3, malleable(1, 4, 1, 8, 100));
    resize(4, 2);
    told(core_ended(core, 5, 1, &error), &error);
    assert_int_equal(core_state(core, 5)->idle, 8);
    assert_int_equal(core_state(core, 5)->coming, 0);
}

static void test_a_requeued_job_has_its_place_again(void **state)
{
    const epop_policy_state_t *view;
    (void)state;
    start(0, malleable(2, 4, 1, 8, 100));
    submit(core, 1, rigid(1, 8, 10));
    told(core_requeued(core, 5, 2, &error), &error);
    view = core_state(core, 5);
    assert_true(view->waiting_count == 2 && !view->running_count && view->idle == 8);
    assert_int_equal(view->waiting[0]->id, 2);
    assert_true(view->waiting[0]->started < 0 && !view->waiting[0]->nodes && view->waiting[0]->left == 100);
    refused(core_requeued(core, 5, 2, &error), &error, "it does not run");
}

static void test_left_by_the_limit(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    assert_left(0, 1, 100);
    assert_left(40, 1, 60);
    resize(40, 8);
    assert_left(50, 1, 50); /* it computes at 4 nodes still */
    told(core_committed(core, 50, 1, 10, 2, &error), &error);
    assert_left(50, 1, 26); /* of the 10 s it stood still for 2 */
    assert_left(60, 1, 16);
    assert_left(76, 1, 0.001);
    assert_left(500, 1, 0.001);
}

static void test_left_of_another_size_than_wanted(void **state)
{
    struct core_job job = malleable(1, 4, 1, 8, 100);
    (void)state;
    start(0, job);
    resize(0, 8);
    told(core_committed(core, 0, 1, 0, 0, &error), &error);
    assert_left(0, 1, 50);
    resize(10, 1);
    told(core_committed(core, 10, 1, 0, 0, &error), &error);
    assert_left(10, 1, 320);
}

/* It ends when it would have, but for the time that it stood still. */
static void test_left_with_weak_scaling(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    told(core_weak(core, 1, true, &error), &error);
    resize(40, 8);
    told(core_committed(core, 50, 1, 10, 2, &error), &error);
    assert_left(50, 1, 52);
    told(core_told(core, 60, 1, 30, &error), &error);
    resize(60, 1);
    told(core_committed(core, 60, 1, 0, 0, &error), &error);
    assert_left(60, 1, 30);
    told(core_weak(core, 1, false, &error), &error);
    resize(60, 2);
    told(core_committed(core, 60, 1, 0, 0, &error), &error);
    assert_left(60, 1, 15);
    struct core_job rather = malleable(1, 8, 1, 8, 100);
    told(core_learned(core, 60, &rather, &error), &error);
    assert_true(core_job(core, 1)->limit == 50); /* with strong scaling twice as many nodes take half of it */
    told(core_weak(core, 1, true, &error), &error);
    rather.wanted = 2;
    told(core_learned(core, 60, &rather, &error), &error);
    assert_true(core_job(core, 1)->limit == 50);
    refused(core_weak(core, 2, true, &error), &error, "there is none");
}

static void test_left_as_it_is_told(void **state)
{
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    told(core_told(core, 10, 1, 20, &error), &error);
    assert_left(15, 1, 15);
    refused(core_told(core, 15, 1, INFINITY, &error), &error, "inf s left");
    refused(core_told(core, 14, 1, 3, &error), &error, "time goes");
    assert_left(15, 1, 15);
    told(core_told(core, 20, 1, -1, &error), &error); /* nothing any more: the limit counts */
    assert_left(20, 1, 80);
}

static void test_phases(void **state)
{
    epop_policy_phase_t phases[] = {{.name = "a", .elastic = 1, .range = {1, 8, NULL, 0}},
                                    {.name = "b", .range = {1, 8, NULL, 0}},
                                    {.name = "c", .elastic = 1, .range = {1, 4, NULL, 0}}};
    struct core_job job = malleable(1, 4, 1, 8, 100);
    const epop_policy_job_t *view;
    (void)state;
    job.phases = phases;
    job.phase_count = 3;
    start(0, job);
    view = core_job(core, 1);
    told(core_phase(core, 10, 1, 0, (double[]){0, 20, 30}, &error), &error);
    core_state(core, 15);
    assert_true(view->phases[0].begins == 0 && view->phases[1].begins == 15 && view->phases[2].begins == 25);
    told(core_phase(core, 30, 1, 1, NULL, &error), &error);
    assert_true(view->phase == 1 && view->phase_count == 2 && view->phases[0].begins == 0 &&
                view->phases[1].begins < 0);
    assert_string_equal(view->phases[0].name, "b");
    refused(core_phase(core, 30, 1, 3, NULL, &error), &error, "phase 3 of 3");
    told(core_requeued(core, 31, 1, &error), &error);
    assert_true(view->phase == 0 && view->phase_count == 3);
}

static void test_samples_are_kept_by_phase_and_size(void **state)
{
    double change;
    epop_policy_sample_t sample = {.phase = 0, .nodes = 4, .seconds = 1, .mtct = 0.5};
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    told(core_measured(core, 1, &sample, &change, &error), &error);
    sample.nodes = 8;
    told(core_measured(core, 1, &sample, &change, &error), &error);
    sample.seconds = 3;
    told(core_measured(core, 1, &sample, &change, &error), &error);
    assert_int_equal(core_job(core, 1)->sample_count, 2);
    assert_true(core_job(core, 1)->samples[0].seconds == 1 && core_job(core, 1)->samples[1].seconds == 3);
    sample.mtct = NAN;
    refused(core_measured(core, 1, &sample, &change, &error), &error, "a sample of phase 0 at 8 nodes");
    refused(core_measured(core, 2, &sample, &change, &error), &error, "there is none");
}

static void test_a_job_in_loops(void **state)
{
    epop_policy_phase_t phase = {.name = "main", .elastic = 1, .range = {1, 8, NULL, 0}};
    struct core_job job = malleable(1, 4, 1, 8, 100);
    const epop_policy_job_t *view;
    (void)state;
    job.phases = &phase;
    job.phase_count = 1;
    start(0, job);
    view = core_job(core, 1);
    told(core_loop(core, 1, 3, &error), &error);
    assert_true(view->phase == EPOP_POLICY_LOOPS + 3 && view->phase_count == 1);
    told(core_phase(core, 10, 1, 0, NULL, &error), &error);
    assert_int_equal(view->phase, EPOP_POLICY_LOOPS + 3);
    assert_true(view->left > 0 && view->phases[0].begins == 0);
    told(core_loop(core, 1, 0, &error), &error);
    assert_int_equal(view->phase, 0);
    refused(core_loop(core, 1, -1, &error), &error, "loop -1");
    refused(core_loop(core, 2, 1, &error), &error, "there is none");
    told(core_loop(core, 1, 2, &error), &error);
    told(core_requeued(core, 31, 1, &error), &error);
    assert_int_equal(view->phase, 0);
}

/* ---- A job balances first ---- */

static epop_policy_job_state_t seen; /* by the policy, of the first running job */

static void look(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)plan;
    seen = state->running[0]->state;
}

static struct core_job balancing(void)
{
    struct core_job job = malleable(1, 4, 1, 8, 100);
    job.balances = true;
    return job;
}

/* Ten seconds at its size; how many iterations count then. */
static double measure(double imbalance)
{
    double change;
    const epop_policy_job_t *job = core_job(core, 1);
    epop_policy_sample_t sample = {.nodes = job->nodes, .iterations = 10, .seconds = 1, .imbalance = imbalance};
    told(core_measured(core, 1, &sample, &change, &error), &error);
    for (int i = 0; i < job->sample_count; i++)
        if (job->samples[i].nodes == job->nodes)
            return job->samples[i].iterations;
    return 0;
}

/* Is a balance decided? */
static bool decides(double now)
{
    struct policy policy = of(look);
    struct decisions decisions = decide_at(core, now, &policy);
    assert_int_equal(seen, decisions.count ? EPOP_POLICY_ADAPTS : EPOP_POLICY_RUNS);
    assert_true(!decisions.count || (decisions.items[0].kind == DECISION_BALANCE && !decisions.items[0].nodes));
    return decisions.count;
}

/* Two uneven samples, a balance with that stall, and what is measured behind it. */
static void balance(double now, double before, double stall, double after)
{
    bool due;
    measure(before);
    assert_false(decides(now));
    assert_true(core_uneven(core, 1, &due) && !due);
    measure(before);
    assert_true(core_uneven(core, 1, &due) && due && decides(now));
    measure(before); /* while it balances */
    told(core_balanced(core, now, 1, stall, &error), &error);
    measure(before); /* partly of before */
    measure(after);
}

static void test_an_uneven_job_balances_before_it_is_decided_on(void **state)
{
    double from, to;
    (void)state;
    start(0, balancing());
    assert_true(measure(1.1) == 10);
    balance(10, 2, 0.5, 1.05);
    assert_true(core_job(core, 1)->samples[0].iterations == 10 && core_job(core, 1)->samples[0].imbalance == 1.05);
    assert_true(core_outcome(core, 1, &from, &to) && from == 2 && to == 1.05);
    assert_false(core_outcome(core, 1, &from, &to));
    assert_true(measure(1.2) == 20 && !decides(20));
    assert_true(core_job(core, 1)->resizes == 0 && core_job(core, 1)->resized == 0);
}

static void test_where_balances_do_not_help_what_is_measured_counts(void **state)
{
    (void)state;
    start(0, balancing());
    balance(10, 2, 0, 1.9);
    assert_true(core_job(core, 1)->sample_count == 0);
    measure(1.9);
    assert_true(decides(20));
    told(core_balanced(core, 20, 1, 0, &error), &error);
    measure(1.9);
    assert_true(measure(1.9) == 10); /* the limit is 2.35 now */
    assert_true(measure(2.3) == 20 && !decides(30));
    assert_true(measure(2.4) == 20);
    assert_true(measure(1.1) == 30); /* it became even by itself */
    balance(40, 1.5, 0, 1);
    assert_true(core_job(core, 1)->samples[0].iterations == 10);
}

static void test_a_balance_that_costs_more_than_is_lost_waits(void **state)
{
    (void)state;
    start(0, balancing());
    balance(10, 2, 18, 1); /* with 2 the ranks wait for 5 s in ten */
    for (int i = 0; i < 3; i++)
        measure(2);
    assert_false(decides(50));
    measure(2);
    assert_true(decides(60));
}

static void test_a_balance_that_is_refused(void **state)
{
    struct policy policy = of(look);
    (void)state;
    start(0, balancing());
    measure(2);
    measure(2);
    assert_true(decides(20));
    refused(core_committed(core, 20, 1, 1, 1, &error), &error, "it balances");
    told(core_refused(core, 20, 1, &error), &error);
    refused(core_balanced(core, 20, 1, 1, &error), &error, "no resize of it");
    assert_true(measure(2) == 10 && !decides(30));
    assert_int_equal(resize(30, 8).to, 8);
    refused(core_balanced(core, 31, 1, 0, &error), &error, "none was decided");
    told(core_committed(core, 31, 1, 1, 0, &error), &error);
    measure(2);
    assert_true(measure(2) == 0 && decide_at(core, 40, &policy).count == 1); /* at another size it is tried again */
}

static void test_who_does_not_say_so_is_not_balanced(void **state)
{
    epop_policy_phase_t phase = {.name = "rigid", .range = {1, 8, NULL, 0}};
    struct core_job job = balancing();
    (void)state;
    start(0, malleable(1, 4, 1, 8, 100));
    assert_true(measure(2) == 10 && measure(2) == 20 && !decides(10));
    job.phases = &phase;
    job.phase_count = 1;
    told(core_learned(core, 10, &job, &error), &error);
    assert_true(measure(2) == 30 && measure(2) == 40 && !decides(20));
    phase.elastic = 1;
    told(core_learned(core, 20, &job, &error), &error);
    assert_true(measure(2) == 40 && measure(-1) == 40 && measure(2) == 40 && decides(30));
}

static void test_a_plan_that_is_refused_leaves_the_balance_due(void **state)
{
    struct policy policy = of(change_size);
    struct decisions decisions;
    (void)state;
    start(0, balancing());
    measure(2);
    measure(2);
    to = 6;
    refused(core_decide(core, 10, &policy, &decisions, &error), &error, "resize job 1");
    assert_int_equal(core_job(core, 1)->state, EPOP_POLICY_RUNS);
    assert_true(decides(10));
}

static void test_an_evolving_job_asks(void **state)
{
    struct core_job job = malleable(1, 4, 1, 8, 100);
    (void)state;
    job.kind = EPOP_EVOLVING;
    start(0, job);
    told(core_asked(core, 1, 6, &error), &error);
    assert_int_equal(core_job(core, 1)->asked, 6);
    refused(core_asked(core, 1, 9, &error), &error, "does not accept");
    told(core_asked(core, 1, 0, &error), &error);
    start(1, malleable(2, 4, 1, 8, 100));
    refused(core_asked(core, 2, 6, &error), &error, "not evolving");
}

static void test_nodes_go_down_and_come_up(void **state)
{
    (void)state;
    start(0, rigid(1, 2, 10));
    refused(core_node(core, 1, false, &error), &error, "job 1 holds it");
    refused(core_node(core, 8, false, &error), &error, "there are 8");
    told(core_node(core, 5, false, &error), &error);
    told(core_node(core, 5, false, &error), &error);
    assert_int_equal(core_state(core, 0)->down, 1);
    assert_int_equal(core_state(core, 0)->idle, 5);
    told(core_node(core, 5, true, &error), &error);
    assert_int_equal(core_state(core, 0)->idle, 6);
}

static void test_many_jobs_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++)
        submit(core, i, rigid(i * 7919LL, 1, 10));
    for (int i = 0; i < 5000; i += 2)
        told(core_ended(core, 5000, i * 7919LL, &error), &error);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(!core_job(core, i * 7919LL), i % 2 == 0);
    assert_int_equal(core_state(core, 5000)->waiting_count, 2500);
}

/* ---- Any sequence of calls ---- */

static uint64_t seed;
static bool wishes; /* there are shares and deadlines */

static int any(int below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((seed >> 33) % (unsigned)below);
}

static void decide_anything(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->running_count; i++) {
        const epop_policy_job_t *job = state->running[i];
        int nodes = epop_policy_fit(&job->range, 1 + any(state->node_count));
        if (any(3) && job->kind == EPOP_MALLEABLE && job->state == EPOP_POLICY_RUNS && nodes != job->nodes &&
            nodes - job->nodes <= epop_plan_idle(plan))
            assert_int_equal(epop_plan_resize(plan, job, nodes, "any"), 0);
    }
    for (int i = 0; i < state->waiting_count; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        int nodes = epop_policy_fit(&job->range, epop_plan_idle(plan));
        if (any(2) && nodes > 0)
            assert_int_equal(epop_plan_start(plan, job, nodes, "any"), 0);
        else
            assert_int_equal(epop_plan_reserve(plan, job, job->wanted, state->now + any(9), "any"), 0);
    }
}

/* Each node that a job holds says so, no other does, and the counts are those of the lists. */
static void check(struct core *any_core, double now)
{
    const epop_policy_state_t *view = core_state(any_core, now);
    int held = 0, coming = 0, idle = 0, down = 0, counted = 0;
    for (int i = 0; i < view->running_count; i++) {
        const epop_policy_job_t *job = view->running[i];
        int holds = job->nodes > job->target ? job->nodes : job->target;
        assert_true(job->left > 0 && job->state != EPOP_POLICY_WAITS);
        assert_true((job->state == EPOP_POLICY_RUNS) == (job->nodes == job->target));
        assert_true(i == 0 || view->running[i - 1]->started <= job->started);
        for (int k = 0; k < holds; k++)
            assert_true(view->nodes[job->node_list[k]].job == job->id);
        held += holds;
        coming += job->target < job->nodes ? job->nodes - job->target : 0;
    }
    for (int i = 1; i < view->waiting_count; i++) {
        const epop_policy_job_t *one = view->waiting[i - 1], *next = view->waiting[i];
        bool before = one->submitted < next->submitted || (one->submitted == next->submitted && one->id < next->id);
        assert_true(one->priority > next->priority || (one->priority == next->priority && (before || wishes)));
        assert_true(next->state == EPOP_POLICY_WAITS && !next->nodes);
    }
    for (int i = 0; i < view->node_count; i++) {
        idle += view->nodes[i].state == EPOP_NODE_IDLE;
        down += view->nodes[i].state == EPOP_NODE_DOWN;
        assert_true((view->nodes[i].state == EPOP_NODE_BUSY) == (view->nodes[i].job >= 0));
    }
    for (size_t i = 0; i < core_shares(any_core)->count; i++)
        counted += core_shares(any_core)->items[i]->nodes;
    assert_int_equal(counted, wishes ? held : 0);
    assert_int_equal(held + idle + down, view->node_count);
    assert_true(view->idle == idle && view->down == down && view->coming == coming);
}

static void tell_anything(struct core *any_core, double now, int64_t id)
{
    struct error why = {0};
    switch (any(7)) {
    case 0:
        core_ended(any_core, now, id, &why);
        break;
    case 1:
        core_requeued(any_core, now, id, &why);
        break;
    case 2:
        core_refused(any_core, now, id, &why);
        break;
    case 3:
        core_told(any_core, now, id, any(50), &why);
        break;
    case 4:
        core_priority(any_core, id, any(3), &why);
        break;
    default:
        core_committed(any_core, now, id, 1, any(2), &why);
    }
}

/* As many nodes as it says, ascending. */
static void check_decisions(struct decisions decisions)
{
    for (int i = 0; i < decisions.count; i++) {
        const struct decision *decision = &decisions.items[i];
        int change = decision->kind == DECISION_RESERVE ? 0 : decision->to - decision->from;
        assert_int_equal(decision->count, change > 0 ? change : -change);
        for (int k = 1; k < decision->count; k++)
            assert_true(decision->nodes[k - 1] < decision->nodes[k]);
    }
}

static struct core_job any_job(int64_t id, int nodes, double now)
{
    static const char *const accounts[] = {"alice", "bob", "carol"};
    int wanted = 1 + any(nodes);
    struct core_job job = any(3) ? malleable(id, wanted, 1, nodes, 1 + any(40)) : rigid(id, wanted, 9);
    if (!wishes)
        return job;
    job.account = accounts[any(3)];
    job.deadline = any(2) ? now + 1 + any(90) : 0;
    return job;
}

/* A policy that follows EASY has its schedule made, too. */
static void any_sequence(void)
{
    struct policy policy = of(decide_anything);
    policy.table.follows_easy = any(2) ? follows : NULL;
    int nodes = 1 + any(150);
    struct core *any_core = core_create(nodes, &no_costs, 0);
    struct shares shares;
    struct error why;
    int64_t last = 0;
    if (wishes) {
        told(shares_read(&shares, "alice=2,bob=1", 20, &why), &why);
        assert_int_equal(core_set_shares(any_core, &shares), 0);
        shares_free(&shares);
    }
    for (double now = 0; now < 150; now += any(2)) {
        if (any(3) == 0)
            submit(any_core, now, any_job(++last, nodes, now));
        if (last)
            tell_anything(any_core, now, 1 + any((int)last));
        core_node(any_core, any(nodes), any(3), &why);
        check(any_core, now);
        check_decisions(decide_at(any_core, now, &policy));
        check(any_core, now);
    }
    core_destroy(any_core);
}

static void test_any_sequence_of_calls(void **state)
{
    (void)state;
    for (int i = 0; i < 120; i++) {
        seed = (uint64_t)i + 1;
        wishes = i % 2;
        any_sequence();
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_new_machine_is_idle),
        TEST(test_waiting_jobs_are_by_submission_then_number),
        TEST(test_the_highest_priority_comes_first),
        TEST(test_who_used_least_over_its_share_comes_first),
        TEST(test_a_job_is_counted_for_another_account),
        TEST(test_a_promise_keeps_its_place_before_shares),
        TEST(test_nodes_count_as_used_while_they_are_held),
        TEST(test_who_has_to_start_first_for_its_deadline_comes_first),
        TEST(test_a_deadline_is_changed),
        TEST(test_more_nodes_help_no_weak_job_to_meet_its_deadline),
        TEST(test_a_promise_keeps_its_place_before_deadlines),
        TEST(test_easy_has_the_same_order),
        TEST(test_all_of_a_job_is_copied),
        TEST(test_jobs_that_cannot_be),
        TEST(test_a_start_takes_the_shortest_run_that_fits),
        TEST(test_nodes_apart_where_no_run_fits),
        TEST(test_a_job_that_ends_is_forgotten),
        TEST(test_a_growth_takes_nodes_at_once),
        TEST(test_a_shrink_gives_nodes_back_when_it_commits),
        TEST(test_a_resize_that_is_refused),
        TEST(test_a_job_may_end_while_it_adapts),
        TEST(test_a_requeued_job_has_its_place_again),
        TEST(test_left_by_the_limit),
        TEST(test_left_of_another_size_than_wanted),
        TEST(test_left_with_weak_scaling),
        TEST(test_left_as_it_is_told),
        TEST(test_phases),
        TEST(test_samples_are_kept_by_phase_and_size),
        TEST(test_a_job_in_loops),
        TEST(test_an_uneven_job_balances_before_it_is_decided_on),
        TEST(test_where_balances_do_not_help_what_is_measured_counts),
        TEST(test_a_balance_that_costs_more_than_is_lost_waits),
        TEST(test_a_balance_that_is_refused),
        TEST(test_who_does_not_say_so_is_not_balanced),
        TEST(test_a_plan_that_is_refused_leaves_the_balance_due),
        TEST(test_an_evolving_job_asks),
        TEST(test_nodes_go_down_and_come_up),
        TEST(test_many_jobs_are_found),
        cmocka_unit_test(test_any_sequence_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
