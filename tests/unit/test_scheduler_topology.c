/* Trees of switches: what is read and refused, where jobs start, grow and shrink, and what policies see. */
#include "tests/unit/scheduler_nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scheduler/core/topology.h"

static struct topology topology;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    topology = (struct topology){0};
    nodes = (struct nodes){0};
    error = (struct error){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nodes_free(&nodes);
    topology_free(&topology);
    return 0;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static char path[] = "/tmp/epop-test-topology-XXXXXX";

static int read_text(const char *text, const char *const *names, int count)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int failed = topology_read(&topology, path, names, count, &error);
    unlink(path);
    return failed;
}

/* Four leaves of four nodes below two switches. */
static const char islands[] = "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\n"
                              "SwitchName=c Nodes=n[8-11]\nSwitchName=d Nodes=n[12-15]\n"
                              "SwitchName=left Switches=a,b\nSwitchName=right Switches=c,d\n";

static void machine(const char *text, int count)
{
    if (read_text(text, NULL, count))
        fail_msg("%s", error.text);
    assert_int_equal(nodes_init(&nodes, count), 0);
    assert_int_equal(nodes_set_topology(&nodes, &topology), 0);
}

static void nodes_are_numbered_as_they_stand_there(void **state)
{
    (void)state;
    told(read_text("# ours\n\nswitchname=far nodes=m7,m[02-03]   # two words\r\nSwitchName=near \\\n Nodes=z \\\r\n"
                   "LinkSpeed=10\nSwitchName=top Switches=far,near",
                   NULL, 4),
         &error);
    assert_int_equal(topology.count, 3);
    assert_string_equal(topology.names[0], "m7");
    assert_string_equal(topology.names[1], "m02");
    assert_string_equal(topology.names[3], "z");
    assert_int_equal(topology.leaves[2], 0);
    assert_int_equal(topology.leaves[3], 1);
    assert_string_equal(topology.switches[1].name, "near");
    assert_int_equal(topology.switches[1].parent, 2);
    assert_int_equal(topology.switches[2].parent, -1);
    assert_int_equal(topology_above(&topology, 2), 3);
    assert_int_equal(topology_above(&topology, 3), -1);
    assert_int_equal(topology_least(&topology, 3), 1);
    assert_int_equal(topology_least(&topology, 4), 2);
    assert_int_equal(topology_leaves(&topology, (const int[]){0, 3, 1}, 3), 2);
}

static void a_site_has_its_own_numbers_and_fewer_nodes(void **state)
{
    static const char *const names[] = {"n9", "n2"};
    (void)state;
    told(read_text(islands, names, 2), &error);
    assert_int_equal(topology.leaves[0], 2);
    assert_int_equal(topology.leaves[1], 0);
    assert_int_equal(topology_least(&topology, 2), 2);
}

static void nodes_of_one_name_are_below_one_switch(void **state)
{
    static const char *const names[] = {"n1", "n2", "n2", "n3"};
    (void)state;
    told(read_text("SwitchName=a Nodes=n[2-3]\nSwitchName=b Nodes=n1", names, 4), &error);
    assert_true(topology.leaves[0] == 1 && topology.leaves[1] == 0 && topology.leaves[2] == 0 && !topology.leaves[3]);
    assert_int_equal(topology.branches[0].count, 3);
    assert_int_equal(topology_leaves(&topology, (const int[]){1, 2}, 2), 1);
}

static void assert_wrong(const char *text, int line, const char *why)
{
    char place[80];
    refused(read_text(text, NULL, 2), &error, why);
    snprintf(place, sizeof place, line ? "%s:%d: " : "%s: ", path, line);
    assert_int_equal(strncmp(error.text, place, strlen(place)), 0);
    assert_null(topology.switches);
}

static void what_makes_no_sense_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_wrong("", 0, "no switch in it");
    assert_wrong("# none\n\n", 0, "no switch in it");
    assert_wrong("SwitchName=a Nodes=n[0-1]\nSwitch=b Nodes=m\n", 2, "\"Switch=b\" has no place here");
    assert_wrong("SwitchName=a Nodes=n[0-1] fast\n", 1, "\"fast\" has no place here");
    assert_wrong("SwitchName=a SwitchName=b Nodes=n[0-1]\n", 1, "\"SwitchName=b\" has no place");
    assert_wrong("SwitchName= Nodes=n[0-1]\n", 1, "\"SwitchName=\" has no place");
    assert_wrong("Nodes=n[0-1]\n", 1, "no SwitchName");
    assert_wrong("\nSwitchName=a\n", 2, "neither Nodes nor Switches");
    assert_wrong("SwitchName=a Nodes=n0 \\\n Switches=b\n", 2, "Nodes and Switches");
    assert_wrong("SwitchName=a Nodes=n[0-\n", 1, "\"n[0-\" is no list of names");
    assert_wrong("SwitchName=a Nodes=n0\nSwitchName=b Nodes=n[0-0]\n", 2, "node n0 is below a already");
    assert_wrong("SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n", 2, "switch a is there already");
    assert_wrong("SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=c\n", 2, "there is no switch c");
    assert_wrong("SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", 3,
                 "switch a is below b already");
    assert_wrong("SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n", 2,
                 "switch b is below itself");
    assert_wrong("SwitchName=a Nodes=n[0-2]\n", 0, "it names 3 nodes, and the machine has 2");
    refused(topology_read(&topology, "/nowhere/topology.conf", NULL, 2, &error), &error, "/nowhere/topology.conf: No");
}

static void every_node_of_a_site_is_below_a_switch(void **state)
{
    static const char *const names[] = {"n1", "n16"};
    (void)state;
    refused(read_text(islands, names, 2), &error, "node n16 is below no switch");
}

/* ---- Choosing ----------------------------------------------------------------------------------- */

static void take(int first, int last)
{
    for (int i = first; i <= last; i++)
        nodes_take(&nodes, &i, 1, 7);
}

static void a_job_starts_below_the_lowest_switch_that_has_room(void **state)
{
    (void)state;
    machine(islands, 16);
    take(0, 1); /* a has two */
    take(8, 8); /* c has three */
    assert_chosen(NULL, 0, 2, NODES(2, 3));
    assert_chosen(NULL, 0, 3, NODES(9, 10, 11));
    assert_chosen(NULL, 0, 4, NODES(4, 5, 6, 7));
    assert_chosen(NULL, 0, 5, NODES(2, 4, 5, 6, 7));
    assert_chosen(NULL, 0, 7, NODES(9, 10, 11, 12, 13, 14, 15));
    assert_chosen(NULL, 0, 8, NODES(2, 9, 10, 11, 12, 13, 14, 15));
}

static void neighbours_are_chosen_below_a_leaf(void **state)
{
    (void)state;
    machine("SwitchName=a Nodes=n[0-7]\n", 8);
    take(1, 1);
    take(5, 5);
    assert_chosen(NULL, 0, 2, NODES(6, 7));
    assert_chosen(NULL, 0, 3, NODES(2, 3, 4));
    assert_chosen(NULL, 0, 4, NODES(0, 2, 3, 4));
}

static void a_growth_stays_near_its_job(void **state)
{
    (void)state;
    machine(islands, 16);
    take(4, 5);
    take(8, 8);
    assert_chosen(NODES(4, 5), 2, 2, NODES(6, 7));
    assert_chosen(NODES(4, 5), 2, 3, NODES(0, 6, 7));
    assert_chosen(NODES(4, 8), 2, 2, NODES(6, 7));
    assert_chosen(NODES(4, 8), 2, 3, NODES(9, 10, 11));
    assert_chosen(NODES(4, 5), 2, 7, NODES(6, 7, 9, 12, 13, 14, 15));
}

static int fewest_leaves(int count)
{
    int idle[4] = {0}, leaves = 0;
    for (int i = 0; i < 16; i++)
        idle[topology.leaves[i]] += nodes.items[i].state == EPOP_NODE_IDLE;
    for (; count > 0; leaves++) {
        int most = 0;
        for (int i = 1; i < 4; i++)
            most = idle[i] > idle[most] ? i : most;
        count -= idle[most];
        idle[most] = 0;
    }
    return leaves;
}

/* Below one switch all leaves are alike. */
static void as_few_leaves_as_possible_are_taken(void **state)
{
    (void)state;
    machine("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-6]\nSwitchName=c Nodes=n[7-9]\nSwitchName=d "
            "Nodes=n[10-15]\n",
            16);
    srand(1);
    for (int round = 0; round < 2000; round++) {
        int chosen[16], node = rand() % 16;
        if (nodes.items[node].state == EPOP_NODE_IDLE)
            nodes_take(&nodes, &node, 1, 3);
        else
            nodes_give(&nodes, &node, 1);
        if (!nodes.idle)
            continue;
        int count = 1 + rand() % nodes.idle;
        nodes_choose(&nodes, NULL, 0, count, chosen);
        for (int i = 0; i < count; i++)
            assert_true(nodes.items[chosen[i]].state == EPOP_NODE_IDLE && (!i || chosen[i - 1] < chosen[i]));
        assert_int_equal(topology_leaves(&topology, chosen, count), fewest_leaves(count));
    }
}

/* ---- Leaving ------------------------------------------------------------------------------------ */

static void assert_left(const int *list, int held, int count, const int *expected)
{
    int ordered[16];
    memcpy(ordered, list, (size_t)held * sizeof *list);
    nodes_leave(&nodes, ordered, held, count);
    assert_memory_equal(ordered, expected, (size_t)held * sizeof *list);
}

static void switches_with_few_of_its_nodes_are_left(void **state)
{
    (void)state;
    machine(islands, 16);
    assert_left(NODES(4, 0, 5, 6, 8), 5, 1, NODES(4, 0, 5, 6, 8));
    assert_left(NODES(4, 0, 5, 8, 9, 6), 6, 1, NODES(4, 5, 8, 9, 6, 0));
    assert_left(NODES(4, 0, 5, 8, 6), 5, 1, NODES(4, 0, 5, 6, 8));
    assert_left(NODES(4, 0, 5, 8, 9, 6), 6, 2, NODES(4, 5, 8, 6, 0, 9));
    assert_left(NODES(4, 0, 5, 8, 9, 6), 6, 3, NODES(4, 5, 6, 0, 8, 9));
    assert_left(NODES(4, 5, 6, 7), 4, 3, NODES(4, 5, 6, 7));
    assert_left(NODES(4, 5, 8, 9, 10), 5, 2, NODES(4, 5, 8, 9, 10));
}

static void the_first_node_stays(void **state)
{
    (void)state;
    machine(islands, 16);
    assert_left(NODES(0, 4, 5, 6), 4, 3, NODES(0, 4, 5, 6));
    assert_left(NODES(0, 4, 1, 5), 4, 1, NODES(0, 4, 1, 5));
    assert_left(NODES(0, 1, 4, 5, 6), 5, 1, NODES(0, 1, 4, 5, 6));
}

/* ---- In the core -------------------------------------------------------------------------------- */

static struct core *core;
static int size_to;

static void start_all(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++)
        epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "it fits");
}

static void change_size(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_resize(plan, state->running[0], size_to, "to %d", size_to);
}

static void begin_core(void)
{
    told(read_text(islands, NULL, 16), &error);
    core = core_create(16, &no_costs, 0);
    assert_int_equal(core_set_topology(core, &topology, 0.1), 0);
}

static struct decision resize(double now, int to)
{
    struct policy policy = of(change_size);
    size_to = to;
    return decide_at(core, now, &policy).items[0];
}

static void start(double now, struct core_job job)
{
    struct policy policy = of(start_all);
    submit(core, now, job);
    decide_at(core, now, &policy);
}

static void policies_see_switches_and_leaves(void **state)
{
    const epop_policy_state_t *view;
    (void)state;
    begin_core();
    start(0, malleable(1, 5, 1, 16, 100));
    view = core_state(core, 0);
    assert_int_equal(view->switch_count, 6);
    assert_string_equal(view->switches[4].name, "left");
    assert_int_equal(view->switches[1].parent, 4);
    assert_int_equal(view->nodes[6].leaf, 1);
    assert_int_equal(core_job(core, 1)->leaves, 2);
    told(core_ended(core, 1, 1, &error), &error);
    core_destroy(core);
}

static void a_shrink_empties_a_switch(void **state)
{
    struct decision decision;
    (void)state;
    begin_core();
    start(0, rigid(9, 3, 100));            /* 0 to 2 */
    start(0, malleable(1, 3, 1, 16, 100)); /* 4 to 6 */
    decision = resize(1, 5);
    assert_nodes(&decision, NODES(3, 7), 2);
    told(core_committed(core, 2, 1, 0, 0, &error), &error);
    assert_int_equal(core_job(core, 1)->leaves, 2);
    decision = resize(3, 4);
    assert_nodes(&decision, NODES(3), 1);
    assert_int_equal(core_job(core, 1)->leaves, 2);
    told(core_refused(core, 4, 1, &error), &error);
    decision = resize(5, 4);
    assert_nodes(&decision, NODES(3), 1);
    told(core_committed(core, 6, 1, 0, 0, &error), &error);
    assert_int_equal(core_job(core, 1)->leaves, 1);
    core_destroy(core);
}

static void some_jobs_give_up_their_last_ranks_alone(void **state)
{
    struct core_job job = malleable(1, 2, 1, 16, 100);
    struct decision decision;
    (void)state;
    begin_core();
    job.in_order = true;
    start(0, rigid(8, 4, 100));  /* a */
    start(0, rigid(9, 3, 100));  /* 4 to 6 */
    start(0, job);               /* 8 and 9 */
    start(0, rigid(10, 6, 100)); /* the rest of c, and d */
    told(core_ended(core, 1, 8, &error), &error);
    decision = resize(1, 4);
    assert_nodes(&decision, NODES(0, 1), 2);
    told(core_committed(core, 2, 1, 0, 0, &error), &error);
    decision = resize(3, 3);
    assert_nodes(&decision, NODES(1), 1);
    core_destroy(core);
}

static void a_vacated_node_goes_with_others_of_its_switch(void **state)
{
    struct decision decision;
    int sizes[] = {3, 6};
    struct core_job job = malleable(1, 6, 1, 16, 100);
    (void)state;
    begin_core();
    job.range = (epop_policy_range_t){.min = 3, .max = 6, .sizes = sizes, .count = 2};
    start(0, job); /* 0 to 3, and two of b */
    told(core_vacate(core, 1, 2, "drained", &decision, &error), &error);
    assert_nodes(&decision, NODES(2, 4, 5), 3);
    core_destroy(core);
}

/* ---- Moves -------------------------------------------------------------------------------------- */

static epop_policy_move_t move;
static int moved; /* what epop_plan_moved has returned */

static const epop_policy_job_t *job_1(const epop_policy_state_t *state)
{
    int i = 0;
    while (state->running[i]->id != 1)
        i++;
    return state->running[i];
}

static void look_at_it(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    moved = epop_plan_moved(plan, job_1(state), &move);
}

static void move_it(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    look_at_it(settings, state, plan);
    epop_plan_move(plan, job_1(state), "%d leaves", move.leaves);
}

static struct decisions decide_by(decide_fn decide, double now)
{
    struct policy policy = of(decide);
    return decide_at(core, now, &policy);
}

/* Job 1 is the only one: on 4, 5, 8 and 9, as 6 and 7 were not idle when it grew. */
static void spread(struct core_job job)
{
    begin_core();
    start(0, rigid(9, 3, 100)); /* 0 to 2 */
    start(0, job);              /* 4 and 5 */
    start(0, rigid(8, 2, 100)); /* 6 and 7 */
    told(core_ended(core, 1, 9, &error), &error);
    start(1, rigid(7, 4, 100)); /* 0 to 3 */
    decide_by(change_size, 1);
    told(core_committed(core, 2, 1, 0, 0, &error), &error);
    told(core_ended(core, 3, 7, &error), &error);
    told(core_ended(core, 3, 8, &error), &error);
    assert_int_equal(core_job(core, 1)->leaves, 2);
}

static void spread_job(void)
{
    size_to = 4;
    spread(malleable(1, 2, 1, 16, 100));
}

static void a_job_is_moved_by_two_resizes(void **state)
{
    struct decisions decisions;
    (void)state;
    spread_job();
    decisions = decide_by(move_it, 4);
    assert_true(!moved && move.nodes == 6 && move.leaves == 1 && fabs(move.saves - (1 - 1 / 1.1)) < 1e-9);
    assert_int_equal(decisions.count, 1);
    assert_true(decisions.items[0].kind == DECISION_RESIZE && decisions.items[0].from == 4);
    assert_string_equal(decisions.items[0].reason, "1 leaves");
    assert_nodes(&decisions.items[0], NODES(6, 7), 2);
    told(core_committed(core, 5, 1, 0, 0, &error), &error);
    decisions = decide_by(look_at_it, 5);
    assert_int_equal(moved, -1); /* it adapts */
    assert_int_equal(decisions.count, 1);
    assert_true(decisions.items[0].from == 6 && decisions.items[0].to == 4);
    assert_nodes(&decisions.items[0], NODES(8, 9), 2);
    told(core_committed(core, 6, 1, 0, 0, &error), &error);
    assert_int_equal(core_job(core, 1)->leaves, 1);
    assert_int_equal(decide_by(look_at_it, 7).count, 0);
    assert_int_equal(moved, -1);
    core_destroy(core);
}

static void a_move_that_is_refused_is_over(void **state)
{
    (void)state;
    spread_job();
    decide_by(move_it, 4);
    told(core_refused(core, 5, 1, &error), &error);
    assert_int_equal(decide_by(look_at_it, 5).count, 0);
    assert_int_equal(moved, 0);
    core_destroy(core);
}

static void a_way_back_that_is_refused_is_tried_again(void **state)
{
    (void)state;
    spread_job();
    decide_by(move_it, 4);
    told(core_committed(core, 5, 1, 0, 0, &error), &error);
    assert_int_equal(decide_by(look_at_it, 5).items[0].to, 4);
    told(core_refused(core, 6, 1, &error), &error);
    assert_int_equal(decide_by(look_at_it, 7).items[0].to, 4);
    told(core_committed(core, 8, 1, 0, 0, &error), &error);
    assert_int_equal(decide_by(look_at_it, 9).count, 0);
    assert_int_equal(core_job(core, 1)->leaves, 1);
    core_destroy(core);
}

static void nonsense(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_resize(plan, state->running[0], 5, "it is on its way back");
}

static void the_way_back_outlives_a_plan_that_is_refused(void **state)
{
    struct policy policy = of(nonsense);
    struct decisions decisions;
    (void)state;
    spread_job();
    decide_by(move_it, 4);
    told(core_committed(core, 5, 1, 0, 0, &error), &error);
    refused(core_decide(core, 5, &policy, &decisions, &error), &error, "the plan has a decision on it already");
    assert_int_equal(core_job(core, 1)->state, EPOP_POLICY_RUNS);
    assert_int_equal(decide_by(look_at_it, 6).items[0].to, 4);
    core_destroy(core);
}

/* Its second phase is rigid, its third accepts 6 and 8 alone. */
static void the_way_back_waits_for_its_phase(void **state)
{
    static const int sizes[] = {6, 8};
    epop_policy_phase_t phases[] = {{.elastic = 1, .range = {.min = 1, .max = 16}},
                                    {.elastic = 0, .range = {.min = 1, .max = 16}},
                                    {.elastic = 1, .range = {.min = 6, .max = 8, .sizes = sizes, .count = 2}}};
    struct core_job job = malleable(1, 2, 1, 16, 100);
    (void)state;
    job.phases = phases;
    job.phase_count = 3;
    size_to = 4;
    spread(job);
    decide_by(move_it, 4);
    told(core_committed(core, 5, 1, 0, 0, &error), &error);
    told(core_phase(core, 6, 1, 1, NULL, &error), &error);
    assert_int_equal(decide_by(look_at_it, 6).count, 0);
    assert_int_equal(moved, -1);
    told(core_phase(core, 7, 1, 2, NULL, &error), &error);
    assert_int_equal(decide_by(look_at_it, 7).count, 0);
    size_to = 8;
    assert_int_equal(decide_by(change_size, 8).count, 1);
    told(core_committed(core, 9, 1, 0, 0, &error), &error);
    assert_int_equal(decide_by(look_at_it, 9).count, 0); /* what the policy has decided counts */
    core_destroy(core);
}

static void try_to_move(struct core_job job)
{
    size_to = 4;
    spread(job);
    decide_by(look_at_it, 4);
}

static void sizes_say_how_large_it_is_meanwhile(void **state)
{
    static const int some[] = {2, 4, 8}, few[] = {2, 4, 5, 16};
    struct core_job job = malleable(1, 2, 2, 8, 100);
    (void)state;
    job.range = (epop_policy_range_t){.min = 2, .max = 8, .sizes = some, .count = 3};
    try_to_move(job);
    assert_true(!moved && move.nodes == 8);
    struct decision decision = decide_by(move_it, 4).items[0];
    assert_nodes(&decision, NODES(6, 7, 10, 11), 4);
    told(core_committed(core, 5, 1, 0, 0, &error), &error);
    assert_int_equal(decide_by(look_at_it, 5).items[0].to, 4);
    told(core_committed(core, 6, 1, 0, 0, &error), &error);
    assert_int_equal(core_job(core, 1)->leaves, 1);
    core_destroy(core);
    topology_free(&topology);
    job.range = (epop_policy_range_t){.min = 2, .max = 16, .sizes = few, .count = 4};
    try_to_move(job);
    assert_true(!moved && move.nodes == 16); /* all others are idle */
    start(5, rigid(3, 1, 100));
    decide_by(look_at_it, 5);
    assert_int_equal(moved, -1);
    core_destroy(core);
}

static void some_jobs_cannot_be_moved(void **state)
{
    struct policy policy = of(move_it);
    struct decisions decisions;
    struct core_job job = malleable(1, 2, 1, 16, 100);
    (void)state;
    job.in_order = true;
    try_to_move(job);
    assert_int_equal(moved, -1);
    refused(core_decide(core, 4, &policy, &decisions, &error), &error, "move job 1: there is nowhere");
    core_destroy(core);
    topology_free(&topology);
    begin_core();
    start(0, malleable(1, 4, 1, 16, 100));
    decide_by(look_at_it, 1);
    assert_int_equal(moved, -1); /* it is below one */
    told(core_ended(core, 2, 1, &error), &error);
    start(2, rigid(1, 5, 100));
    decide_by(look_at_it, 3);
    assert_int_equal(moved, -1);
    core_destroy(core);
}

static void a_job_is_not_moved_to_slower_nodes(void **state)
{
    (void)state;
    spread_job();
    assert_int_equal(core_set_speed(core, 6, 0.5), 0);
    decide_by(look_at_it, 4);
    assert_int_equal(moved, -1);
    assert_int_equal(core_set_speed(core, 6, 2), 0);
    decide_by(look_at_it, 4);
    assert_true(!moved && move.leaves == 1);
    core_destroy(core);
}

static void start_what_fits(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++)
        if (state->waiting[i]->wanted <= epop_plan_idle(plan))
            epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "it fits");
}

/* Each of these jobs, perhaps. */
static void end_some(double now, int first, int last)
{
    for (int id = first; id <= last; id++)
        if (rand() % 2)
            told(core_ended(core, now, id, &error), &error);
}

/* Job 1 is where others have left nodes idle, of which then more do. */
static void scatter_job(void)
{
    begin_core();
    for (int id = 2; id <= 15; id++)
        submit(core, 0, rigid(id, 1, 100));
    decide_by(start_what_fits, 0);
    for (int id = 2; id <= 8; id++)
        if (rand() % 2 || id == 2)
            told(core_ended(core, 1, id, &error), &error);
    submit(core, 1, malleable(1, 1 + rand() % core_state(core, 1)->idle, 1, 16, 100));
    decide_by(start_what_fits, 1);
    end_some(2, 9, 15);
}

/* The job ends below as many switches as was said, and these are fewer. */
static void moves_do_what_they_say(void **state)
{
    int tried = 0;
    (void)state;
    srand(3);
    for (int round = 0; round < 500; round++) {
        scatter_job();
        int size = core_job(core, 1)->nodes, leaves = core_job(core, 1)->leaves;
        decide_by(look_at_it, 3);
        if (!moved) {
            tried++;
            decide_by(move_it, 3);
            told(core_committed(core, 4, 1, 0, 0, &error), &error);
            decide_by(look_at_it, 4);
            told(core_committed(core, 5, 1, 0, 0, &error), &error);
            assert_int_equal(core_job(core, 1)->nodes, size);
            assert_int_equal(core_job(core, 1)->leaves, move.leaves);
            assert_true(move.leaves < leaves);
        }
        core_destroy(core);
        topology_free(&topology);
    }
    assert_in_range(tried, 100, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_are_numbered_as_they_stand_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_site_has_its_own_numbers_and_fewer_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_of_one_name_are_below_one_switch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused_with_its_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_node_of_a_site_is_below_a_switch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_starts_below_the_lowest_switch_that_has_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(neighbours_are_chosen_below_a_leaf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_growth_stays_near_its_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_few_leaves_as_possible_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(switches_with_few_of_its_nodes_are_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_node_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(policies_see_switches_and_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_shrink_empties_a_switch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_jobs_give_up_their_last_ranks_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_vacated_node_goes_with_others_of_its_switch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_is_moved_by_two_resizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_that_is_refused_is_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_way_back_that_is_refused_is_tried_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_way_back_outlives_a_plan_that_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_way_back_waits_for_its_phase, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_say_how_large_it_is_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_jobs_cannot_be_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_is_not_moved_to_slower_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moves_do_what_they_say, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
