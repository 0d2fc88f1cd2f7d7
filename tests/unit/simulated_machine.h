/* A few jobs on a small machine in virtual time, for the tests of the simulator. */
#ifndef TESTS_SIMULATED_MACHINE_H
#define TESTS_SIMULATED_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "scheduler/policies/policies.h"
#include "scheduler/simulated/simulate.h"

enum { JOBS_MAX = 8, PHASES_MAX = 3 };

struct machine {
    struct workload workload;
    struct work works[JOBS_MAX];
    struct phase phases[JOBS_MAX][PHASES_MAX];
    struct policy policy;
    struct script script;
    struct simulation simulation;
};

/* `machine` stays where it is. */
static inline void set_up(struct machine *machine, int nodes, const epop_policy_t *table)
{
    *machine = (struct machine){.workload = {.name = (char *)"test", .nodes = nodes}};
    machine->workload.works = machine->works;
    machine->policy = (struct policy){.table = *table, .spec = table->name};
    machine->simulation.workload = &machine->workload;
    machine->simulation.policy = &machine->policy;
}

/* A job of one phase, which takes `seconds` at `nodes` nodes, in iterations of a second there; its limit is true. */
static inline struct work *add_job(struct machine *machine, double submit, int nodes, double seconds)
{
    size_t index = machine->workload.count++;
    struct work *work = &machine->works[index];
    *work = (struct work){.id = (int64_t)index + 1, .submit = submit, .wanted = nodes, .limit = seconds};
    work->range = (epop_policy_range_t){.min = nodes, .max = nodes};
    work->phases = machine->phases[index];
    work->phase_count = 1;
    work->phases[0] = (struct phase){.name = (char *)"loop", .elastic = true, .iterations = seconds, .seconds = nodes};
    return work;
}

static inline struct work *add_malleable(struct machine *machine, double submit, int nodes, double seconds, int max)
{
    struct work *work = add_job(machine, submit, nodes, seconds);
    work->kind = EPOP_MALLEABLE;
    work->range = (epop_policy_range_t){.min = 1, .max = max};
    return work;
}

/* Another phase of the job, with iterations of a second on one node. */
static inline struct phase *add_phase(struct work *work, bool elastic, double iterations)
{
    struct phase *phase = &work->phases[work->phase_count++];
    *phase = (struct phase){.name = (char *)"more", .elastic = elastic, .iterations = iterations, .seconds = 1};
    return phase;
}

/* What must work. */
static inline struct schedule run(const struct machine *machine)
{
    struct schedule schedule;
    struct error error = {0};
    if (simulate(&machine->simulation, &schedule, &error))
        fail_msg("%s", error.text);
    return schedule;
}

/* What must fail, with these in its one line. */
static inline void run_fails(const struct machine *machine, const char *what, const char *when)
{
    struct schedule schedule;
    struct error error = {0};
    assert_int_equal(simulate(&machine->simulation, &schedule, &error), -1);
    if (!strstr(error.text, what) || !strstr(error.text, when) || strchr(error.text, '\n'))
        fail_msg("'%s' or '%s' is not in '%s'", what, when, error.text);
}

static inline void assert_near(double value, double expected)
{
    double difference = value - expected;
    if (!(difference < 1e-6 && difference > -1e-6))
        fail_msg("%.12g is not %.12g", value, expected);
}

static inline void assert_runs(const struct schedule *schedule, int job, double start, double end)
{
    assert_int_equal(schedule->jobs[job - 1].outcome, OUTCOME_DONE);
    assert_near(schedule->jobs[job - 1].start, start);
    assert_near(schedule->jobs[job - 1].end, end);
}

static inline void assert_event(const struct schedule *schedule, size_t index, double time, const char *text)
{
    assert_true(index < schedule->event_count);
    assert_near(schedule->events[index].time, time);
    if (!strstr(schedule->events[index].text, text))
        fail_msg("'%s' is not in '%s'", text, schedule->events[index].text);
}

/* ---- A policy that follows the test's list ------------------------------------------------- */

struct step {
    double time;
    int64_t job;
    int nodes;
};

struct steps {
    const struct step *items;
    int count, next;
};

static struct steps steps;

static inline const epop_policy_job_t *find_job(const epop_policy_state_t *state, int64_t id)
{
    for (int i = 0; i < state->running_count; i++)
        if (state->running[i]->id == id)
            return state->running[i];
    return NULL;
}

/* All that wait start in turn as far as they fit at the nodes that they want; resizes are as listed. */
static inline void follow(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count && state->waiting[i]->wanted <= epop_plan_idle(plan); i++)
        epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "it fits");
    for (; steps.next < steps.count && steps.items[steps.next].time <= state->now; steps.next++) {
        const struct step *step = &steps.items[steps.next];
        epop_plan_resize(plan, find_job(state, step->job), step->nodes, "as listed");
    }
    if (steps.next < steps.count)
        epop_plan_wake(plan, steps.items[steps.next].time);
}

static const epop_policy_t following = {
    .abi_version = EPOP_POLICY_ABI_VERSION, .struct_size = sizeof following, .name = "following", .decide = follow};

static inline void list_steps(const struct step *items, int count)
{
    steps = (struct steps){items, count, 0};
}

#endif
