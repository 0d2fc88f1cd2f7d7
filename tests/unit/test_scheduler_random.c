/* Anything that a policy may do, with jobs of all kinds and faults: no invariant breaks, no job is lost, and the run
 * comes again. */
#include "simulated_machine.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 300, FAULTS_MAX = 8 };

static unsigned dice;

static int roll(int sides)
{
    return (int)(rand_r(&dice) % (unsigned)sides);
}

/* ---- A policy without a plan --------------------------------------------------------------- */

static void start_some(const epop_policy_state_t *state, epop_plan_t *plan)
{
    for (int i = 0; i < state->waiting_count; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        int nodes = roll(2) ? job->wanted : epop_policy_fit(&job->range, 1 + roll(job->range.max));
        if (nodes && nodes <= epop_plan_idle(plan) && (!state->running_count || roll(3)))
            epop_plan_start(plan, job, nodes, "by chance");
        else if (roll(2))
            epop_plan_reserve(plan, job, job->wanted, state->now + roll(100), "by chance");
    }
}

static void resize_some(const epop_policy_state_t *state, epop_plan_t *plan)
{
    for (int i = 0; i < state->running_count; i++) {
        const epop_policy_job_t *job = state->running[i];
        int nodes = job->asked && roll(2) ? job->asked : 1 + roll(job->range.max);
        if (job->kind < EPOP_MALLEABLE || job->state != EPOP_POLICY_RUNS || !job->phases[0].elastic || roll(2))
            continue;
        if (epop_policy_accepts(&job->range, nodes) && epop_policy_accepts(&job->phases[0].range, nodes) &&
            nodes != job->nodes && nodes - job->nodes <= epop_plan_idle(plan))
            epop_plan_resize(plan, job, nodes, "by chance");
    }
}

static void decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    start_some(state, plan);
    resize_some(state, plan);
    if (state->waiting_count || roll(3))
        epop_plan_wake(plan, state->now + 1 + roll(50));
}

static const epop_policy_t chance = {.name = "chance", .decide = decide};

/* ---- Jobs and faults ------------------------------------------------------------------------ */

static struct speedup any_speedup(void)
{
    return (struct speedup){.model = (enum speedup_model)roll(3),
                            .serial = 0.1 * roll(10),
                            .parallelism = 1 + roll(40),
                            .sigma = 0.5 * roll(5)};
}

static void any_phases(struct work *work, int nodes)
{
    for (int more = roll(PHASES_MAX); more; more--)
        add_phase(work, roll(3), 1 + roll(100))->seconds = 0.1 * (1 + roll(100));
    for (int i = 0; i < work->phase_count; i++) {
        work->phases[i].speedup = any_speedup();
        if (roll(3))
            continue;
        work->phases[i].range.min = 1 + roll(nodes);
        work->phases[i].range.max = work->phases[i].range.min + roll(10);
    }
}

static void any_moves(struct work *work)
{
    for (int i = 0; i < work->phase_count; i++)
        for (int on = 0; on < SHARED; on++)
            if (!roll(3))
                work->phases[i].moves[on] = (struct move){1 + roll(5000), 1 + roll(10)};
}

static void any_job(struct machine *machine, double submit)
{
    int nodes = machine->workload.nodes;
    struct work *work = add_job(machine, submit, 1 + roll(nodes), 1 + roll(100));
    work->kind = (epop_policy_kind_t)roll(4);
    work->progress = roll(2);
    work->bytes = roll(10) * roll(50);
    if (work->kind != EPOP_RIGID) {
        work->range.min = 1 + roll(work->wanted);
        work->range.max = work->wanted + roll(nodes - work->wanted + 1);
    }
    work->rates = &machine->workload.rates;
    any_phases(work, nodes);
    any_moves(work);
}

/* Each node that fails returns later. */
static void any_faults(struct machine *machine, struct node_fault *nodes, struct resize_fault *resizes)
{
    double time = 0;
    int count = roll(FAULTS_MAX / 2);
    for (int i = 0; i < count; i++)
        nodes[i] = (struct node_fault){time += roll(100), roll(machine->workload.nodes), false, 0};
    for (int i = 0; i < count; i++)
        nodes[count + i] = (struct node_fault){time += roll(50), nodes[i].node, true, 0};
    resizes[0] = (struct resize_fault){1 + roll((int)machine->workload.count), 1 + roll(3), 0};
    machine->script = (struct script){nodes, 2 * (size_t)count, resizes, 1};
    machine->simulation.script = &machine->script;
}

static void any_machine(struct machine *machine, unsigned seed)
{
    double submit = 0;
    dice = seed;
    set_up(machine, 2 + roll(30), &chance);
    if (roll(2))
        machine->workload.rates =
            (struct rates){.all = {roll(2) * (50 + roll(500)), 50 + roll(500)}, .link = roll(2) * (5 + roll(50))};
    for (int jobs = 1 + roll(JOBS_MAX); jobs; jobs--, submit += roll(3) ? roll(40) : 0)
        any_job(machine, submit);
    machine->simulation.costs = (struct core_costs){roll(3), 0.1 * roll(3), roll(2)};
    machine->simulation.latency = roll(2) * roll(10);
    machine->simulation.noise = 0.1 * roll(3);
    machine->simulation.seed = seed;
}

/* ---- The runs ------------------------------------------------------------------------------ */

/* It held nodes from its start to its end, without a gap. */
static void assert_stays(const struct job_record *job)
{
    double held = 0;
    for (int i = 0; i < job->stay_count; i++) {
        assert_true(job->stays[i].begin < job->stays[i].end && isfinite(job->stays[i].end));
        held += job->stays[i].end - job->stays[i].begin;
    }
    assert_int_equal(job->outcome, OUTCOME_DONE);
    if (job->requeues)
        assert_true(held > job->end - job->start - 1e-6);
    else
        assert_near(held, job->end - job->start);
}

/* All that its jobs move, no more and no less. */
static void assert_moved(const struct schedule *schedule, const struct rates *rates, int on)
{
    double bytes = 0;
    for (const struct job_record *job = schedule->jobs; job < schedule->jobs + schedule->job_count; job++) {
        bytes += on == SHARED_NETWORK ? job->resizes * job->work->bytes : 0;
        for (const struct phase *phase = job->work->phases; phase < job->work->phases + job->work->phase_count; phase++)
            if (phase->moves[on].bytes > 0)
                bytes += phase->moves[on].bytes * phase->iterations / phase->moves[on].every;
    }
    double used = bytes / (rates->all[on] * schedule->metrics.makespan);
    assert_true(fabs(schedule->metrics.rate_used[on] - used) <= 1e-9 * used && used <= 1 + 1e-9);
}

static int check(const struct schedule *schedule, const struct rates *rates)
{
    const struct metrics *metrics = &schedule->metrics;
    for (int on = 0; on < SHARED; on++)
        if (rates->all[on] > 0 && !metrics->requeues)
            assert_moved(schedule, rates, on);
    for (size_t i = 0; i < schedule->job_count; i++)
        assert_stays(&schedule->jobs[i]);
    assert_int_equal(metrics->done, (int)schedule->job_count);
    assert_int_equal(metrics->resizes, metrics->grown + metrics->shrunk);
    assert_true(metrics->utilisation > 0 && metrics->utilisation < 1 + 1e-9);
    return metrics->resizes;
}

static void whatever_a_policy_does(void **state)
{
    (void)state;
    int resizes = 0, requeues = 0, refused = 0, shared = 0;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct machine machine;
        struct node_fault nodes[FAULTS_MAX];
        struct resize_fault faults[1];
        any_machine(&machine, seed);
        if (roll(2))
            any_faults(&machine, nodes, faults);
        dice = seed;
        struct schedule schedule = run(&machine), again;
        resizes += check(&schedule, &machine.workload.rates);
        shared += schedule.metrics.rate_used[SHARED_FILE_SYSTEM] > 0.5;
        requeues += schedule.metrics.requeues;
        refused += schedule.metrics.refused;
        dice = seed;
        machine.simulation.replay = &schedule;
        again = run(&machine);
        schedule_free(&again);
        schedule_free(&schedule);
    }
    assert_true(resizes > 500 && requeues > 50 && refused > 20 && shared > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_a_policy_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
