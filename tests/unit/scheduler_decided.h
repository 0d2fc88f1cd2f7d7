/* A built-in policy on a small machine: opened, asked, and what it decided. For tests that include this once. */
#ifndef TESTS_SCHEDULER_DECIDED_H
#define TESTS_SCHEDULER_DECIDED_H

#include "tests/unit/scheduler_machine.h"

#include "scheduler/policies/policies.h"

static struct core *core;
static struct policy policy;
static struct error error;
static struct decisions decisions;

/* Idle nodes; a resize makes a job stand still for `cost` seconds. */
static void machine(int nodes, double cost, double power_cap)
{
    core_destroy(core);
    core = core_create(nodes, &(struct core_costs){.base = cost}, power_cap);
    assert_non_null(core);
}

static void use(const char *spec)
{
    policy_close(&policy);
    told(policy_open(&policy, spec, policies, &error), &error);
}

static int tear_down(void **state)
{
    (void)state;
    core_destroy(core);
    core = NULL;
    policy_close(&policy);
    policy = (struct policy){0};
    return 0;
}

static void decide(double now)
{
    decisions = decide_at(core, now, &policy);
}

static const struct decision *decision_on(int64_t job)
{
    for (int i = 0; i < decisions.count; i++)
        if (decisions.items[i].job == job)
            return &decisions.items[i];
    return NULL;
}

/* There is one on that job, with that in its reason. */
static void assert_decided(enum decision_kind kind, int64_t job, int to, const char *why)
{
    const struct decision *decision = decision_on(job);
    if (!decision || decision->kind != kind || decision->to != to)
        fail_msg("job %d: kind %d to %d, not %d to %d", (int)job, decision ? (int)decision->kind : -1,
                 decision ? decision->to : -1, (int)kind, to);
    if (!strstr(decision->reason, why))
        fail_msg("'%s' is not in '%s'", why, decision->reason);
}

#endif
