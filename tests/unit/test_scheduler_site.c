/* What the core has for sites that rule real nodes: jobs that run when the site starts, nodes that it wants back, what
 * turns out of a job while it runs, resizes that end in another way than was decided. */
#include "tests/unit/scheduler_machine.h"

static struct core *core;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    error = (struct error){0};
    core = core_create(6, &no_costs, 0);
    return core ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    core_destroy(core);
    return 0;
}

static int resized_to;

static void change_size(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_resize(plan, state->running[0], resized_to, "to %d", resized_to);
}

static struct decision resize(double now, int nodes)
{
    struct policy policy = of(change_size);
    resized_to = nodes;
    return decide_at(core, now, &policy).items[0];
}

static void adopt(double now, int64_t id, int nodes, int target, const int *list)
{
    struct core_place place = {.started = 4, .nodes = nodes, .target = target, .list = list};
    told(core_adopt(core, now, id, &place, &error), &error);
}

static void assert_holds(int64_t id, const int *list, int count)
{
    const epop_policy_job_t *job = core_job(core, id);
    assert_int_equal(job->nodes > job->target ? job->nodes : job->target, count);
    assert_memory_equal(job->node_list, list, (size_t)count * sizeof *list);
    for (int i = 0; i < count; i++)
        assert_int_equal(core_state(core, 0)->nodes[list[i]].job, id);
}

static void test_a_running_job_is_adopted(void **state)
{
    const int list[] = {5, 1};
    (void)state;
    submit(core, 2, malleable(7, 2, 1, 4, 100));
    adopt(10, 7, 2, 2, list);
    assert_holds(7, list, 2);
    assert_int_equal(core_job(core, 7)->state, EPOP_POLICY_RUNS);
    assert_true(core_job(core, 7)->submitted == 2 && core_job(core, 7)->started == 4);
    assert_true(core_job(core, 7)->left == 94);
    assert_int_equal(core_state(core, 10)->idle, 4);
    assert_int_equal(core_state(core, 10)->waiting_count, 0);
    told(core_ended(core, 11, 7, &error), &error);
    assert_int_equal(core_state(core, 11)->idle, 6);
}

static void test_an_adapting_one_goes_on_where_it_was(void **state)
{
    const int list[] = {0, 3, 4};
    (void)state;
    submit(core, 2, malleable(7, 1, 1, 4, 100));
    submit(core, 2, malleable(8, 1, 1, 4, 100));
    adopt(10, 7, 1, 3, list);
    adopt(10, 8, 2, 1, (const int[]){2, 5});
    assert_int_equal(core_state(core, 10)->coming, 1);
    told(core_committed(core, 11, 7, 1, 0, &error), &error);
    assert_holds(7, list, 3);
    told(core_refused(core, 11, 8, &error), &error);
    assert_holds(8, (const int[]){2, 5}, 2);
    assert_int_equal(core_state(core, 11)->coming, 0);
}

static void do_nothing(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state, (void)plan;
}

/* The growth of a move was over when the site went down, or is under way still; and a job that is back again. */
static void test_a_move_is_ended(void **state)
{
    struct policy policy = of(do_nothing);
    struct core_place place = {.started = 4, .nodes = 3, .target = 3, .list = (const int[]){0, 3, 4}, .back = 2};
    (void)state;
    for (int64_t id = 7; id < 10; id++)
        submit(core, 2, malleable(id, 1, 1, 4, 100));
    told(core_adopt(core, 10, 7, &place, &error), &error);
    place = (struct core_place){.started = 4, .nodes = 1, .target = 2, .list = (const int[]){1, 2}, .back = 1};
    told(core_adopt(core, 10, 8, &place, &error), &error);
    place = (struct core_place){.started = 4, .nodes = 1, .target = 1, .list = (const int[]){5}, .back = 1};
    told(core_adopt(core, 10, 9, &place, &error), &error);
    struct decisions decisions = decide_at(core, 11, &policy);
    assert_int_equal(decisions.count, 1);
    assert_true(decisions.items[0].job == 7 && decisions.items[0].move == MOVE_BACK);
    assert_true(decisions.items[0].from == 3 && decisions.items[0].to == 2);
    told(core_committed(core, 12, 8, 1, 0, &error), &error);
    told(core_committed(core, 12, 7, 1, 0, &error), &error);
    decisions = decide_at(core, 13, &policy);
    assert_int_equal(decisions.count, 1);
    assert_true(decisions.items[0].job == 8 && decisions.items[0].to == 1);
}

static void test_what_cannot_be_is_not_adopted(void **state)
{
    struct core_place place = {.started = 4, .nodes = 2, .target = 2, .list = (const int[]){1, 1}};
    (void)state;
    submit(core, 2, rigid(7, 2, 100));
    refused(core_adopt(core, 10, 7, &place, &error), &error, "twice");
    place.list = (const int[]){1, 6};
    refused(core_adopt(core, 10, 7, &place, &error), &error, "not idle");
    place.list = (const int[]){1, 2};
    place.started = 11;
    refused(core_adopt(core, 10, 7, &place, &error), &error, "since 11");
    refused(core_adopt(core, 10, 9, &place, &error), &error, "none");
    place.started = 4;
    told(core_adopt(core, 10, 7, &place, &error), &error);
    refused(core_adopt(core, 10, 7, &place, &error), &error, "runs already");
}

static void test_a_node_is_vacated(void **state)
{
    const int list[] = {4, 2, 0};
    struct decision decision;
    (void)state;
    submit(core, 2, malleable(7, 3, 1, 4, 100));
    adopt(10, 7, 3, 3, list);
    told(core_vacate(core, 11, 2, "node 2 drains", &decision, &error), &error);
    assert_int_equal(decision.kind, DECISION_RESIZE);
    assert_int_equal(decision.to, 2);
    assert_string_equal(decision.reason, "node 2 drains");
    assert_nodes(&decision, (const int[]){2}, 1);
    assert_int_equal(core_state(core, 11)->coming, 1);
    refused(core_vacate(core, 11, 4, "again", &decision, &error), &error, "on its way");
    told(core_committed(core, 12, 7, 1, 0, &error), &error);
    assert_holds(7, (const int[]){4, 0}, 2);
    told(core_node(core, 2, false, &error), &error);
    assert_int_equal(core_state(core, 12)->idle, 3);
}

static void test_a_vacated_node_takes_others_along_where_sizes_want_it(void **state)
{
    const int sizes[] = {1, 4}, list[] = {0, 1, 2, 3};
    struct core_job job = malleable(7, 4, 1, 4, 100);
    struct decision decision;
    (void)state;
    job.range.sizes = sizes;
    job.range.count = 2;
    submit(core, 2, job);
    adopt(10, 7, 4, 4, list);
    told(core_vacate(core, 11, 0, "drain", &decision, &error), &error);
    assert_nodes(&decision, (const int[]){0, 2, 3}, 3);
    told(core_committed(core, 12, 7, 1, 0, &error), &error);
    assert_holds(7, (const int[]){1}, 1);
}

static void test_a_job_takes_idle_nodes(void **state)
{
    const int sizes[] = {1, 2, 4};
    struct core_job job = malleable(7, 2, 1, 4, 100);
    struct decision decision;
    (void)state;
    job.range.sizes = sizes;
    job.range.count = 3;
    submit(core, 2, job);
    submit(core, 2, rigid(8, 1, 100));
    adopt(10, 7, 2, 2, (const int[]){0, 2});
    adopt(10, 8, 1, 1, (const int[]){1});
    refused(core_grow(core, 11, 7, 5, "more", &decision, &error), &error, "job 7: it cannot have 5 nodes or more now");
    refused(core_grow(core, 11, 7, 2, "more", &decision, &error), &error, "job 7: it cannot");
    refused(core_grow(core, 11, 8, 2, "more", &decision, &error), &error, "job 8: it cannot");
    refused(core_grow(core, 11, 9, 2, "more", &decision, &error), &error, "job 9: there is none");
    told(core_node(core, 3, false, &error), &error);
    told(core_node(core, 5, false, &error), &error);
    refused(core_grow(core, 11, 7, 3, "more", &decision, &error), &error, "job 7: it cannot"); /* one is idle */
    told(core_node(core, 3, true, &error), &error);
    told(core_grow(core, 11, 7, 3, "more", &decision, &error), &error);
    assert_int_equal(decision.kind, DECISION_RESIZE);
    assert_true(decision.from == 2 && decision.to == 4);
    assert_string_equal(decision.reason, "more");
    assert_nodes(&decision, (const int[]){3, 4}, 2);
    refused(core_grow(core, 11, 7, 4, "more", &decision, &error), &error, "job 7: it cannot");
    told(core_committed(core, 12, 7, 1, 0, &error), &error);
    assert_holds(7, (const int[]){0, 2, 3, 4}, 4);
}

static void test_who_cannot_do_without_keeps_its_node(void **state)
{
    struct decision decision;
    (void)state;
    submit(core, 2, rigid(7, 2, 100));
    submit(core, 2, malleable(8, 1, 1, 2, 100));
    adopt(10, 7, 2, 2, (const int[]){0, 1});
    adopt(10, 8, 1, 1, (const int[]){2});
    refused(core_vacate(core, 11, 1, "drain", &decision, &error), &error, "job 7: it cannot");
    refused(core_vacate(core, 11, 2, "drain", &decision, &error), &error, "job 8: it cannot");
    refused(core_vacate(core, 11, 3, "drain", &decision, &error), &error, "no job holds it");
}

static void test_what_a_job_is_turns_out_later(void **state)
{
    const int sizes[] = {1, 4};
    epop_policy_phase_t phases[] = {{.name = "setup", .range = {.min = 1, .max = 4}},
                                    {.name = "loop", .elastic = 1, .range = {.min = 1, .max = 4}}};
    struct core_job job = malleable(7, 1, 1, 4, 100);
    (void)state;
    job.kind = EPOP_MOLDABLE;
    submit(core, 2, job);
    adopt(10, 7, 1, 1, (const int[]){3});
    job.kind = EPOP_MALLEABLE;
    job.range.sizes = sizes;
    job.range.count = 2;
    job.phases = phases;
    job.phase_count = 2;
    told(core_learned(core, 11, &job, &error), &error);
    told(core_phase(core, 11, 7, 1, NULL, &error), &error);
    assert_int_equal(core_job(core, 7)->kind, EPOP_MALLEABLE);
    assert_string_equal(core_job(core, 7)->phases[0].name, "loop");
    assert_holds(7, (const int[]){3}, 1);
    resize(12, 4);
    assert_int_equal(core_job(core, 7)->target, 4);
    job.wanted = 4;
    told(core_learned(core, 13, &job, &error), &error);
    assert_true(core_job(core, 7)->wanted == 4 && core_job(core, 7)->limit == 25); /* it was 100 s on one */
    job.range.max = 0;
    refused(core_learned(core, 13, &job, &error), &error, "its range");
}

static void test_a_resize_comes_out_as_it_does(void **state)
{
    (void)state;
    submit(core, 2, malleable(7, 1, 1, 4, 100));
    adopt(10, 7, 2, 2, (const int[]){0, 3});
    resize(11, 4);
    refused(core_came_out(core, 12, 7, (const int[]){0, 5}, 2, &error), &error, "did not hold");
    told(core_came_out(core, 12, 7, (const int[]){0, 3, 2}, 3, &error), &error);
    assert_holds(7, (const int[]){0, 3, 2}, 3);
    assert_int_equal(core_state(core, 12)->idle, 3);
    assert_int_equal(core_job(core, 7)->state, EPOP_POLICY_RUNS);
    refused(core_came_out(core, 12, 7, (const int[]){0}, 1, &error), &error, "no resize");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_running_job_is_adopted),
        TEST(test_an_adapting_one_goes_on_where_it_was),
        TEST(test_a_move_is_ended),
        TEST(test_what_cannot_be_is_not_adopted),
        TEST(test_a_node_is_vacated),
        TEST(test_a_vacated_node_takes_others_along_where_sizes_want_it),
        TEST(test_a_job_takes_idle_nodes),
        TEST(test_who_cannot_do_without_keeps_its_node),
        TEST(test_what_a_job_is_turns_out_later),
        TEST(test_a_resize_comes_out_as_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
