/* What a simulated run may not do: each is done here, by a bad policy or by hand, and is found. */
#include "simulated_machine.h"

#include <math.h>

#include "scheduler/simulated/ledger.h"

static void never(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings, (void)state, (void)plan;
}

static void at_once_again(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_wake(plan, state->now + 1e-10);
}

static void later(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_wake(plan, state->now + 60);
}

static int started;

/* One job after the other, as often as it is asked, from the last of the queue to the first. */
static void the_last_first(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    if (state->waiting_count > 1)
        epop_plan_reserve(plan, state->waiting[0], state->waiting[0]->wanted, 10, "so it is said");
    for (int i = state->waiting_count - 1; i >= 0; i--)
        if (state->waiting[i]->wanted <= epop_plan_idle(plan))
            epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "the last");
    started++;
}

static void too_many(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    epop_plan_start(plan, state->waiting[0], 3, "why not");
}

static epop_policy_t bad(const char *name,
                         void (*decide)(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan))
{
    return (epop_policy_t){.abi_version = EPOP_POLICY_ABI_VERSION, .name = name, .decide = decide};
}

static void expect(struct machine *machine, const char *name,
                   void (*decide)(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan),
                   const char *what, const char *when)
{
    machine->policy.table = bad(name, decide);
    machine->policy.spec = name;
    run_fails(machine, what, when);
}

static void policies_that_start_nothing(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 5, 2, 10)->name = (char *)"first";
    add_job(&machine, 6, 1, 10);
    expect(&machine, "never", never, "job 1 first waits for 2 nodes, 2 of 2 are idle", "policy never at 6:");
    expect(&machine, "later", later, "job 1 first waits", "policy later at 6");
    expect(&machine, "again", at_once_again, "1000 times without time moving", "policy again at 5");
    expect(&machine, "many", too_many, "3 nodes", "policy many at 5");
}

/* Nodes that are down and do not return. */
static void nodes_that_are_not_there(void **state)
{
    (void)state;
    struct node_fault fault = {4, 1, false, 0};
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 2, 10);
    machine.script = (struct script){.nodes = &fault, .node_count = 1};
    machine.simulation.script = &machine.script;
    run_fails(&machine, "job 1 waits for 2 nodes, 1 of 2 are idle (1 down)", "policy easy at 4:");
}

/* Job 2 is promised all nodes at 10; job 3, which came later, keeps it from one. */
static void a_promise_that_is_broken(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 1, 10);
    add_job(&machine, 1, 2, 5);
    add_job(&machine, 2, 1, 20);
    machine.simulation.exact = true;
    expect(&machine, "bad", the_last_first,
           "job 2 was promised 2 nodes for 10 and waits, while 1 are idle and jobs behind it have got 1",
           "policy bad at 10.001");
    machine.policy.table = policy_easy;
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 10, 15);
    schedule_free(&schedule);
}

/* With limits that are too short, or a fault, no promise can be held. */
static void a_promise_that_means_nothing(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 1, 10);
    add_job(&machine, 1, 2, 5);
    add_job(&machine, 2, 1, 20)->limit = 19;
    machine.simulation.exact = true;
    machine.policy.table = bad("bad", the_last_first);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 22, 27);
    schedule_free(&schedule);
    machine.works[2].limit = 20;
    machine.simulation.script = &machine.script;
    schedule = run(&machine);
    schedule_free(&schedule);
    machine.simulation.script = NULL;
    machine.simulation.exact = false;
    schedule = run(&machine);
    schedule_free(&schedule);
}

static void a_job_larger_than_the_machine(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 3, 10);
    add_job(&machine, 1, 2, 10);
    struct schedule schedule = run(&machine);
    assert_int_equal(schedule.jobs[0].outcome, OUTCOME_NEVER);
    assert_event(&schedule, 0, 0, "job 1: it wants 3 nodes, and the machine has 2; it is never started");
    assert_runs(&schedule, 2, 1, 11);
    assert_int_equal(schedule.metrics.jobs, 2);
    assert_int_equal(schedule.metrics.done, 1);
    schedule_free(&schedule);
}

static void two_jobs(struct machine *machine)
{
    set_up(machine, 2, &policy_easy);
    add_job(machine, 0, 1, 10);
    add_job(machine, 1, 1, 10);
}

static void workloads_of_nonsense(void **state)
{
    (void)state;
    struct machine machine;
    two_jobs(&machine);
    machine.works[1].submit = -1;
    run_fails(&machine, "job 2: it was submitted before", "policy easy");
    machine.works[1].submit = NAN;
    run_fails(&machine, "job 2: its submission is at no time", "policy easy");
    two_jobs(&machine);
    machine.works[1].id = 1;
    run_fails(&machine, "job 1 is there twice", "policy easy");
    machine.works[1].id = -1;
    run_fails(&machine, "job -1: its id", "policy easy");
    two_jobs(&machine);
    machine.works[1].phases[0].seconds = 0;
    run_fails(&machine, "job 2: one of its phases", "policy easy");
    machine.works[1].phases[0].seconds = INFINITY;
    run_fails(&machine, "job 2: one of its phases", "policy easy");
    machine.works[1].phase_count = 0;
    run_fails(&machine, "job 2: it has no phase", "policy easy");
}

static void nothing_to_do(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    struct schedule schedule = run(&machine);
    assert_near(schedule.metrics.makespan, 0);
    assert_near(schedule.metrics.utilisation, 0);
    assert_int_equal(schedule.metrics.jobs, 0);
    schedule_free(&schedule);
}

/* ---- The ledger ---------------------------------------------------------------------------- */

static void taken(const struct ledger *ledger, int result, const struct error *error, const char *why)
{
    struct error counted = {0};
    assert_int_equal(result, -1);
    if (!strstr(error->text, why))
        fail_msg("'%s' is not in '%s'", why, error->text);
    assert_int_equal(ledger_count(ledger, &counted), 0);
}

static void the_ledger_refuses(void **state)
{
    (void)state;
    static const int first[] = {0, 2}, second[] = {1, 2}, third[] = {1, 4}, twice[] = {1, 1}, down[] = {3};
    struct ledger ledger;
    struct error error = {0};
    assert_int_equal(ledger_init(&ledger, 4, &error), 0);
    assert_int_equal(ledger_take(&ledger, 7, first, 2, &error), 0);
    ledger_fail(&ledger, 3);
    taken(&ledger, ledger_take(&ledger, 8, second, 2, &error), &error, "node 2 twice: of job 7 and of job 8");
    taken(&ledger, ledger_take(&ledger, 8, third, 2, &error), &error, "no node 4");
    taken(&ledger, ledger_take(&ledger, 8, twice, 2, &error), &error, "node 1 comes after node 1");
    taken(&ledger, ledger_take(&ledger, 8, down, 1, &error), &error, "node 3, which is down");
    taken(&ledger, ledger_give(&ledger, 7, second, 2, &error), &error, "node 1, which is idle");
    taken(&ledger, ledger_give(&ledger, 8, first, 2, &error), &error, "node 0 twice: of job 7 and of job 8");
    assert_int_equal(ledger.idle, 1);
    assert_int_equal(ledger_give(&ledger, 7, first, 2, &error), 0);
    ledger_return(&ledger, 3);
    assert_int_equal(ledger.idle, 4);
    ledger_free(&ledger);
}

static void a_count_that_is_wrong(void **state)
{
    (void)state;
    static const int node = 1;
    struct ledger ledger;
    struct error error = {0};
    assert_int_equal(ledger_init(&ledger, 4, &error), 0);
    assert_int_equal(ledger_take(&ledger, 7, &node, 1, &error), 0);
    ledger.held++;
    assert_int_equal(ledger_count(&ledger, &error), -1);
    assert_non_null(strstr(error.text, "2 nodes held, 3 idle and 0 down are not the machine's 4"));
    ledger.held--;
    ledger.holders[2] = 9;
    assert_int_equal(ledger_count(&ledger, &error), -1);
    ledger_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_that_start_nothing),
        cmocka_unit_test(nodes_that_are_not_there),
        cmocka_unit_test(a_promise_that_is_broken),
        cmocka_unit_test(a_promise_that_means_nothing),
        cmocka_unit_test(a_job_larger_than_the_machine),
        cmocka_unit_test(workloads_of_nonsense),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(the_ledger_refuses),
        cmocka_unit_test(a_count_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
