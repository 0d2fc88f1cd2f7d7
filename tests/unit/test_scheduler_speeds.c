/* Nodes of different speeds: how they are read, which a job gets and gives back, and how long it takes there. */
#include "tests/unit/scheduler_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "scheduler/core/speeds.h"

static struct error error;

/* ---- Reading ------------------------------------------------------------------------------------ */

static void nodes_are_named(void **state)
{
    static const char *const names[] = {"m7", "m08", "m09", "z"};
    double *speeds;
    (void)state;
    told(speeds_read(&speeds, "m[08-09]=0.5,z=2,m08=0.25", names, 4, &error), &error);
    assert_true(speeds[0] == 1 && speeds[1] == 0.25 && speeds[2] == 0.5 && speeds[3] == 2);
    free(speeds);
    static const char *const parts[] = {"m", "z", "z"};
    told(speeds_read(&speeds, "z=2,z=3", parts, 3, &error), &error);
    assert_true(speeds[0] == 1 && speeds[1] == 3 && speeds[2] == 3);
    free(speeds);
    told(speeds_read(&speeds, "n[0,2-3]=1.5", NULL, 4, &error), &error);
    assert_true(speeds[0] == 1.5 && speeds[1] == 1 && speeds[2] == 1.5 && speeds[3] == 1.5);
    free(speeds);
}

static void assert_wrong(const char *text, const char *why)
{
    double *speeds;
    refused(speeds_read(&speeds, text, NULL, 4, &error), &error, why);
    assert_int_equal(strncmp(error.text, "--speeds: ", 10), 0);
    assert_null(speeds);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    assert_wrong("n1=0.5,n4=2", "there is no node n4");
    assert_wrong("m1=0.5", "there is no node m1");
    assert_wrong("n=0.5", "there is no node n");
    assert_wrong("n1x=0.5", "there is no node n1x");
    assert_wrong("n99999999999=1", "there is no node n99999999999");
    assert_wrong("", "\"\" is not NODE=SPEED");
    assert_wrong("n1", "\"n1\" is not NODE=SPEED");
    assert_wrong("n1=", "\"n1=\" is not");
    assert_wrong("n1=0", "\"n1=0\" is not");
    assert_wrong("n1=-1", "is not");
    assert_wrong("n1=inf", "is not");
    assert_wrong("n1=1001", "from 0.001 to 1000");
    assert_wrong("n1=2x", "is not");
    assert_wrong("n1=2,", "is not");
    assert_wrong("n[1-=2", "is not");
    assert_wrong("=2", "is not");
}

/* ---- Choosing ----------------------------------------------------------------------------------- */

/* Eight of them. */
static int set_up(void **state)
{
    static const double speeds[] = {1, 1, 0.5, 0.5, 2, 1, 0.5, 2};
    (void)state;
    nodes = (struct nodes){0};
    if (nodes_init(&nodes, 8))
        return -1;
    for (int i = 0; i < 8; i++)
        if (nodes_set_speed(&nodes, i, speeds[i]))
            return -1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nodes_free(&nodes);
    return 0;
}

static void the_fastest_are_chosen(void **state)
{
    (void)state;
    assert_chosen(NULL, 0, 1, NODES(4));
    assert_chosen(NULL, 0, 2, NODES(4, 7));
    assert_chosen(NULL, 0, 8, NODES(0, 1, 2, 3, 4, 5, 6, 7));
}

/* With 4 and 7 there are three that make it 1: all these, and none of the fast ones. */
static void none_that_are_faster_where_enough_others_are(void **state)
{
    (void)state;
    assert_chosen(NULL, 0, 3, NODES(0, 1, 5));
    assert_chosen(NULL, 0, 4, NODES(0, 1, 4, 5));
    nodes_take(&nodes, NODES(0, 4), 2, 9);
    assert_chosen(NULL, 0, 2, NODES(1, 5));
    assert_chosen(NULL, 0, 4, NODES(1, 2, 3, 5));
}

static void a_growth_takes_what_does_not_slow_it_down(void **state)
{
    (void)state;
    nodes_take(&nodes, NODES(2), 1, 9);
    assert_chosen(NODES(2), 1, 1, NODES(3));
    assert_chosen(NODES(2), 1, 2, NODES(3, 6));
    assert_chosen(NODES(2), 1, 4, NODES(0, 1, 3, 5));
    nodes_take(&nodes, NODES(0), 1, 9);
    assert_chosen(NODES(0), 1, 1, NODES(1));
    assert_chosen(NODES(0), 1, 3, NODES(1, 4, 5));
    assert_chosen(NODES(0), 1, 5, NODES(3, 4, 5, 6, 7));
    nodes_take(&nodes, NODES(4), 1, 9);
    assert_chosen(NODES(4), 1, 1, NODES(7));
    assert_chosen(NODES(4), 1, 2, NODES(1, 5));
}

static void assert_left(const int *list, int held, int count, const int *expected)
{
    int ordered[8];
    memcpy(ordered, list, (size_t)held * sizeof *list);
    nodes_leave(&nodes, ordered, held, count);
    assert_memory_equal(ordered, expected, (size_t)held * sizeof *list);
}

static void the_slowest_leave_if_that_helps(void **state)
{
    (void)state;
    assert_left(NODES(0, 2, 1, 4), 4, 1, NODES(0, 1, 4, 2));
    assert_left(NODES(4, 2, 3, 1, 7), 5, 1, NODES(4, 2, 3, 1, 7));
    assert_left(NODES(4, 2, 3, 7, 1), 5, 2, NODES(4, 7, 1, 2, 3));
    assert_left(NODES(4, 2, 0, 3, 7), 5, 3, NODES(4, 7, 2, 0, 3));
    assert_left(NODES(2, 3, 0, 4), 4, 1, NODES(2, 3, 0, 4));
    assert_left(NODES(0, 2, 1, 4), 4, 3, NODES(0, 2, 1, 4));
}

/* Whatever is idle: as fast as possible, and with the slowest of those that do. */
static void a_job_is_as_fast_as_it_can_be(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        int chosen[8], node = rand() % 8, faster = 0;
        if (nodes.items[node].state == EPOP_NODE_IDLE)
            nodes_take(&nodes, &node, 1, 3);
        else
            nodes_give(&nodes, &node, 1);
        if (!nodes.idle)
            continue;
        int count = 1 + rand() % nodes.idle;
        nodes_choose(&nodes, NULL, 0, count, chosen);
        double slowest = nodes_slowest(&nodes, chosen, count);
        for (int i = 0; i < count; i++)
            assert_true(nodes.items[chosen[i]].state == EPOP_NODE_IDLE && (!i || chosen[i - 1] < chosen[i]));
        for (int i = 0; i < 8; i++)
            faster += nodes.items[i].state == EPOP_NODE_IDLE && nodes.items[i].speed > slowest;
        assert_true(faster < count);
    }
}

/* ---- In the core -------------------------------------------------------------------------------- */

static int size_to;

static void start_or_change(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    if (state->waiting_count)
        epop_plan_start(plan, state->waiting[0], state->waiting[0]->wanted, "it fits");
    else
        epop_plan_resize(plan, state->running[0], size_to, "to %d", size_to);
}

/* On the fast node, and then on two of 0.5: half the nodes' gain is lost. */
static void what_a_job_has_left_follows_its_speed(void **state)
{
    struct policy policy = of(start_or_change);
    struct core *core = core_create(3, &no_costs, 0);
    const epop_policy_job_t *job;
    (void)state;
    assert_int_equal(core_set_speed(core, 0, 0.5) | core_set_speed(core, 1, 0.5), 0);
    submit(core, 0, malleable(1, 1, 1, 3, 100));
    assert_true(core_job(core, 1)->speed == 1);
    decide_at(core, 0, &policy);
    job = core_job(core, 1);
    assert_true(job->speed == 1 && job->node_list[0] == 2 && core_state(core, 0)->nodes[1].speed == 0.5);
    told(core_told(core, 10, 1, 60, &error), &error);
    size_to = 3;
    decide_at(core, 10, &policy);
    told(core_committed(core, 10, 1, 0, 0, &error), &error);
    assert_true(job->speed == 0.5 && fabs(job->left - 40) < 1e-9);
    size_to = 1;
    decide_at(core, 20, &policy);
    told(core_committed(core, 20, 1, 0, 0, &error), &error);
    assert_true(job->speed == 1 && fabs(job->left - 45) < 1e-9 && job->node_list[0] == 2);
    core_destroy(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_named),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test_setup_teardown(the_fastest_are_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_that_are_faster_where_enough_others_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_growth_takes_what_does_not_slow_it_down, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_slowest_leave_if_that_helps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_is_as_fast_as_it_can_be, set_up, tear_down),
        cmocka_unit_test(what_a_job_has_left_follows_its_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
