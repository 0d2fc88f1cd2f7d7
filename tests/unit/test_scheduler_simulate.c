/* The simulator: small schedules by hand, and tiny ones against all there are. */
#include "simulated_machine.h"

#include <stdlib.h>

#include "scheduler/simulated/schedule_json.h"

/* ---- By hand ------------------------------------------------------------------------------- */

/* Job 2 waits for the whole machine; job 3 fits before it. */
static void easy_by_hand(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &policy_easy);
    add_job(&machine, 0, 3, 10);
    add_job(&machine, 1, 4, 5)->user = 1;
    add_job(&machine, 2, 1, 8);
    machine.workload.idle_watts = 10;
    machine.workload.busy_watts = 100;
    machine.simulation.exact = true;
    struct schedule schedule = run(&machine);
    const struct metrics *metrics = &schedule.metrics;
    assert_runs(&schedule, 1, 0, 10);
    assert_runs(&schedule, 2, 10, 15);
    assert_runs(&schedule, 3, 2, 10);
    assert_near(metrics->makespan, 15);
    assert_near(metrics->mean_wait, 3);
    assert_near(metrics->max_wait, 9);
    assert_near(metrics->mean_response, (10 + 14 + 8) / 3.0);
    assert_near(metrics->mean_slowdown, (1 + 1.4 + 1) / 3);
    assert_near(metrics->p95_slowdown, 1.4);
    assert_near(metrics->max_slowdown, 1.4);
    assert_near(metrics->user_slowdown_spread, 1.4 / 1.2);
    assert_near(metrics->utilisation, 58.0 / 60);
    assert_near(metrics->efficiency, 1);
    assert_near(metrics->joules, 58 * 100 + 2 * 10);
    assert_near(metrics->peak_watts, 400);
    assert_int_equal(metrics->done, 3);
    assert_int_equal(metrics->backfilled, 1);
    schedule_free(&schedule);
}

/* 12 iterations of 2 s at 2 nodes, 5 s for the processes, 3 s still, the rest in iterations of 1 s at 4 nodes. */
static void a_growth_by_hand(void **state)
{
    (void)state;
    static const struct step list[] = {{19, 1, 4}};
    struct machine machine;
    set_up(&machine, 4, &following);
    add_malleable(&machine, 0, 4, 100, 4)->wanted = 2;
    machine.simulation.costs = (struct core_costs){1, 0.25, 0.5};
    machine.works[0].bytes = 4;
    machine.simulation.latency = 5;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    const struct job_record *job = schedule.jobs;
    assert_runs(&schedule, 1, 0, 24 + 3 + 88);
    assert_int_equal(job->resizes, 1);
    assert_near(job->stalled, 3);
    assert_int_equal(job->stay_count, 2);
    assert_near(job->stays[0].end, 19);
    assert_int_equal(job->stays[0].count, 2);
    assert_int_equal(job->stays[1].count, 4);
    assert_near(schedule.metrics.stalled, 12);
    assert_near(schedule.metrics.utilisation, (19 * 2 + 96 * 4) / (115.0 * 4));
    assert_near(schedule.metrics.efficiency, 400 / (19 * 2 + 96 * 4.0));
    assert_int_equal(schedule.metrics.grown, 1);
    schedule_free(&schedule);
}

/* An iteration takes a second at 1 node and at 4, at which it does four times the work. */
static void weak_scaling_by_hand(void **state)
{
    (void)state;
    static const struct step list[] = {{19, 1, 4}};
    struct machine machine;
    set_up(&machine, 4, &following);
    struct work *work = add_malleable(&machine, 0, 4, 100, 4);
    work->wanted = 1;
    work->limit = 100;
    work->phases[0].seconds = 1;
    work->phases[0].weak = true;
    machine.simulation.latency = 5;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 100);
    assert_int_equal(schedule.jobs->resizes, 1);
    assert_near(schedule.jobs->more, 76 * 3);
    assert_near(schedule.metrics.efficiency, (24 + 76 * 4) / (19 + 81 * 4.0)); /* the nodes are held from 19 on */
    schedule_free(&schedule);
}

/* What a shrink gives back is idle when it has committed, not before. */
static void a_shrink_by_hand(void **state)
{
    (void)state;
    static const struct step list[] = {{10, 1, 1}};
    struct machine machine;
    set_up(&machine, 4, &following);
    add_malleable(&machine, 0, 4, 20, 4);
    add_job(&machine, 5, 3, 7);
    machine.simulation.costs.base = 2;
    machine.simulation.latency = 1;
    list_steps(list, 1);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 2, 13, 20);
    assert_runs(&schedule, 1, 0, 13 + 4 * 9);
    assert_int_equal(schedule.metrics.shrunk, 1);
    assert_int_equal(schedule.jobs[0].stays[1].count, 1);
    schedule_free(&schedule);
}

/* From one elastic phase over a rigid one, of ten seconds each, to another. */
static void three_phases(struct machine *machine, const struct step *list, double latency)
{
    set_up(machine, 4, &following);
    struct work *work = add_malleable(machine, 0, 2, 10, 4);
    add_phase(work, false, 20);
    add_phase(work, true, 40);
    machine->simulation.latency = latency;
    machine->simulation.costs.base = 3;
    list_steps(list, 1);
}

/* It is ready in the rigid phase, and waits for the elastic one. */
static void a_rigid_phase_is_not_interrupted(void **state)
{
    (void)state;
    static const struct step list[] = {{8, 1, 4}};
    struct machine machine;
    three_phases(&machine, list, 5);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 20 + 3 + 10);
    assert_int_equal(schedule.jobs[0].resizes, 1);
    schedule_free(&schedule);
}

static void a_job_that_ends_in_a_rigid_phase_drops_its_resize(void **state)
{
    (void)state;
    static const struct step list[] = {{8, 1, 4}};
    struct machine machine;
    three_phases(&machine, list, 5);
    machine.works[0].phase_count = 2;
    add_job(&machine, 15, 2, 1);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 20);
    assert_runs(&schedule, 2, 20, 21);
    assert_int_equal(schedule.jobs[0].resizes, 0);
    schedule_free(&schedule);
}

/* The phase in which it is ready is not the one in which it was decided. */
static void a_phase_refuses_a_size(void **state)
{
    (void)state;
    static const int powers[] = {1, 2, 4};
    static const struct step list[] = {{8, 1, 3}};
    struct machine machine;
    three_phases(&machine, list, 5);
    machine.phases[0][2].range = (epop_policy_range_t){1, 4, powers, 3};
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 40);
    assert_event(&schedule, 0, 20, "resize of job 1 to 3 nodes is refused: its phase more");
    assert_int_equal(schedule.metrics.refused, 1);
    schedule_free(&schedule);
}

/* ---- What the policy sees ------------------------------------------------------------------ */

static int seen;

/* After five iterations at 2 nodes of 2 s each: what is measured, and how long the phase still takes. Of the next one
 * nothing is known until it is measured, so that the limit counts. */
static void look(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    follow(settings, state, plan);
    const epop_policy_job_t *job = state->running_count ? state->running[0] : NULL;
    if (!job || !job->sample_count)
        return;
    if (seen++) {
        assert_near(job->left, seen == 2 ? 1000 - 40 : 25 * 0.75);
        return;
    }
    assert_near(state->now, 10);
    assert_int_equal(job->samples[0].nodes, 2);
    assert_near(job->samples[0].iterations, 5);
    assert_near(job->samples[0].seconds, 2);
    assert_near(job->samples[0].mtct, 0.5);
    assert_near(job->left, 15 * 2);
    assert_int_equal(job->phase_count, 2);
    assert_near(job->phases[1].begins, 30);
}

static const epop_policy_t looking = {.name = "looking", .decide = look};

static void measured_jobs(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &looking);
    struct work *work = add_malleable(&machine, 0, 2, 20, 4);
    work->limit = 1000;
    work->progress = true;
    work->phases[0].seconds = 8.0 / 3;
    work->phases[0].speedup = (struct speedup){.model = SPEEDUP_AMDAHL, .serial = 0.5};
    struct phase *more = add_phase(work, true, 30);
    more->speedup = work->phases[0].speedup;
    list_steps(NULL, 0);
    seen = 0;
    struct schedule schedule = run(&machine);
    assert_int_equal(seen, 3); /* then, at the begin of the next phase, and after five of its iterations */
    assert_runs(&schedule, 1, 0, 40 + 22.5);
    schedule_free(&schedule);
}

static void give_what_is_asked(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    follow(settings, state, plan);
    for (int i = 0; i < state->running_count; i++)
        if (state->running[i]->asked && state->running[i]->state == EPOP_POLICY_RUNS)
            epop_plan_resize(plan, state->running[i], state->running[i]->asked, "it asks for them");
}

static const epop_policy_t giving = {.name = "giving", .decide = give_what_is_asked};

/* From 2 nodes to one that accepts 4 alone, to one that accepts 1; until it has 4 it computes on 2. */
static void an_evolving_job_asks(void **state)
{
    (void)state;
    struct machine machine;
    set_up(&machine, 4, &giving);
    struct work *work = add_malleable(&machine, 0, 2, 10, 4);
    work->kind = EPOP_EVOLVING;
    add_phase(work, true, 20)->range = (epop_policy_range_t){4, 4, NULL, 0};
    add_phase(work, true, 5)->range = (epop_policy_range_t){1, 1, NULL, 0};
    machine.simulation.latency = 2;
    list_steps(NULL, 0);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 10 + 2 + 4 + 5);
    assert_int_equal(schedule.jobs[0].resizes, 2);
    assert_int_equal(schedule.decisions[1].decision.to, 4);
    assert_int_equal(schedule.decisions[2].decision.to, 1);
    schedule_free(&schedule);
}

/* ---- Faults -------------------------------------------------------------------------------- */

/* The control: the same without the fault. */
static void a_node_fails(void **state)
{
    (void)state;
    struct node_fault faults[] = {{4, 0, false, 0}, {6, 0, true, 0}};
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 2, 10);
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 10);
    schedule_free(&schedule);
    machine.script = (struct script){.nodes = faults, .node_count = 2};
    machine.simulation.script = &machine.script;
    schedule = run(&machine);
    assert_runs(&schedule, 1, 6, 16);
    assert_int_equal(schedule.metrics.requeues, 1);
    assert_int_equal(schedule.jobs[0].stay_count, 2);
    assert_near(schedule.jobs[0].stays[0].end, 4);
    assert_near(schedule.metrics.mean_wait, 6);
    assert_event(&schedule, 0, 4, "node 0 fails");
    assert_event(&schedule, 1, 4, "job 1 begins anew");
    assert_event(&schedule, 2, 6, "node 0 returns");
    schedule_free(&schedule);
}

/* Node 3 is only on its way to the job. */
static void a_node_fails_that_a_job_is_to_get(void **state)
{
    (void)state;
    static const struct step list[] = {{2, 1, 4}};
    struct node_fault faults[] = {{5, 3, false, 0}};
    struct machine machine;
    set_up(&machine, 4, &following);
    add_malleable(&machine, 0, 2, 10, 4);
    machine.simulation.latency = 4;
    list_steps(list, 1);
    machine.script = (struct script){.nodes = faults, .node_count = 1};
    machine.simulation.script = &machine.script;
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 10);
    assert_event(&schedule, 1, 5, "refused: a node of them fails");
    assert_int_equal(schedule.metrics.refused, 1);
    assert_int_equal(schedule.metrics.requeues, 0);
    assert_int_equal(schedule.jobs[0].stay_count, 3);
    schedule_free(&schedule);
}

static void the_second_resize_is_refused(void **state)
{
    (void)state;
    static const struct step list[] = {{2, 1, 1}, {4, 1, 2}, {6, 1, 2}};
    struct resize_fault faults[] = {{1, 2, 0}};
    struct machine machine;
    set_up(&machine, 2, &following);
    add_malleable(&machine, 0, 2, 10, 2);
    list_steps(list, 3);
    machine.script = (struct script){.resizes = faults, .resize_count = 1};
    machine.simulation.script = &machine.script;
    struct schedule schedule = run(&machine);
    assert_runs(&schedule, 1, 0, 2 + 4 + 6);
    assert_event(&schedule, 0, 4, "resize of job 1 to 2 nodes is refused: by the script");
    assert_int_equal(schedule.jobs[0].resizes, 2);
    schedule_free(&schedule);
}

static void a_script_of_nonsense(void **state)
{
    (void)state;
    struct node_fault node = {4, 2, false, 0};
    struct resize_fault resize = {9, 1, 0};
    struct machine machine;
    set_up(&machine, 2, &policy_easy);
    add_job(&machine, 0, 2, 10);
    machine.simulation.script = &machine.script;
    machine.script = (struct script){.nodes = &node, .node_count = 1};
    run_fails(&machine, "no node 2", "script");
    machine.script = (struct script){.resizes = &resize, .resize_count = 1};
    run_fails(&machine, "no job 9", "script");
}

/* ---- Against all schedules there are -------------------------------------------------------- */

enum { TINY = 4 };

struct placed {
    double start, end;
    int nodes;
};

static int used(const struct placed *placed, int count, double time)
{
    int nodes = 0;
    for (int i = 0; i < count; i++)
        if (placed[i].start <= time && time < placed[i].end)
            nodes += placed[i].nodes;
    return nodes;
}

static bool fits(const struct placed *placed, int count, double begin, double end, int free)
{
    bool fit = used(placed, count, begin) <= free;
    for (int i = 0; i < count; i++)
        if (placed[i].start > begin && placed[i].start < end)
            fit &= used(placed, count, placed[i].start) <= free;
    return fit;
}

/* As early as it fits with those that are placed: at its submission, or when one of them ends. */
static struct placed place(const struct work *work, const struct placed *placed, int count, int nodes)
{
    double best = 1e9;
    for (int i = -1; i < count; i++) {
        double begin = i < 0 || placed[i].end < work->submit ? work->submit : placed[i].end;
        if (begin < best && fits(placed, count, begin, begin + work->limit, nodes - work->wanted))
            best = begin;
    }
    return (struct placed){best, best + work->limit, work->wanted};
}

/* The shortest of all orders: one of them is the best schedule there is. */
static double best_makespan(const struct machine *machine, struct placed *placed, unsigned taken, int count)
{
    const struct workload *workload = &machine->workload;
    double best = 1e9, last = 0;
    for (size_t i = 0; i < workload->count; i++) {
        if (taken & 1u << i)
            continue;
        placed[count] = place(&workload->works[i], placed, count, workload->nodes);
        double found = best_makespan(machine, placed, taken | 1u << i, count + 1);
        best = found < best ? found : best;
    }
    for (int i = 0; i < count; i++)
        last = placed[i].end > last ? placed[i].end : last;
    return taken == (1u << workload->count) - 1 ? last : best;
}

static int by_submission(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void tiny_workload(struct machine *machine, unsigned *seed, bool at_once)
{
    int submits[TINY];
    set_up(machine, 1 + (int)(rand_r(seed) % 4), &policy_easy);
    machine->simulation.exact = true;
    for (int i = 0; i < TINY; i++)
        submits[i] = at_once ? 0 : (int)(rand_r(seed) % 6);
    qsort(submits, TINY, sizeof *submits, by_submission);
    for (int i = 0; i < TINY; i++) {
        int nodes = 1 + (int)(rand_r(seed) % (unsigned)machine->workload.nodes);
        add_job(machine, submits[i], nodes, 1 + (int)(rand_r(seed) % 8));
    }
}

/* No schedule is shorter than the best, and as the machine is never idle while a job waits, none is longer than all
 * jobs one after the other; of jobs that are there at once the best takes at least that over the nodes. */
static void against_the_best(void **state)
{
    (void)state;
    unsigned seed = 7;
    int equal = 0;
    for (int i = 0; i < 400; i++) {
        struct machine machine;
        struct placed placed[TINY];
        double sum = 0;
        tiny_workload(&machine, &seed, i % 2);
        double best = best_makespan(&machine, placed, 0, 0), first = machine.works[0].submit;
        struct schedule schedule = run(&machine);
        double end = first + schedule.metrics.makespan;
        for (int job = 0; job < TINY; job++)
            sum += machine.works[job].limit;
        assert_true(end > best - 1e-6 && end < machine.works[TINY - 1].submit + sum + 1e-6);
        if (i % 2)
            assert_true(end < best * machine.workload.nodes + 1e-6);
        equal += end < best + 1e-6;
        schedule_free(&schedule);
    }
    assert_true(equal > 100 && equal < 400);
}

/* ---- The same again ------------------------------------------------------------------------ */

static void resized_and_noisy(struct machine *machine)
{
    static const struct step list[] = {{3, 1, 1}, {9, 1, 2}, {12, 2, 2}};
    set_up(machine, 4, &following);
    add_malleable(machine, 0, 2, 10, 4)->progress = true;
    add_malleable(machine, 1, 1, 30, 4)->progress = true;
    machine->simulation.latency = 1;
    machine->simulation.noise = 0.1;
    machine->simulation.seed = 5;
    list_steps(list, 3);
}

static char *text_of(const struct schedule *schedule)
{
    cJSON *json = schedule_json(schedule);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    assert_non_null(text);
    return text;
}

static void the_same_run_is_the_same_text(void **state)
{
    (void)state;
    struct machine machine;
    char *texts[2];
    for (int i = 0; i < 2; i++) {
        resized_and_noisy(&machine);
        struct schedule schedule = run(&machine);
        texts[i] = text_of(&schedule);
        schedule_free(&schedule);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

/* Its figures are those of the whole one, but for the time that decisions took. */
static void a_brief_schedule(void **state)
{
    (void)state;
    struct machine machine;
    resized_and_noisy(&machine);
    struct schedule whole = run(&machine), brief;
    resized_and_noisy(&machine);
    machine.simulation.brief = true;
    brief = run(&machine);
    brief.metrics.decide_seconds = whole.metrics.decide_seconds;
    brief.metrics.decide_longest = whole.metrics.decide_longest;
    assert_memory_equal(&brief.metrics, &whole.metrics, sizeof brief.metrics);
    assert_int_equal(brief.decision_count + brief.event_count, 0);
    for (size_t i = 0; i < brief.job_count; i++) {
        assert_near(brief.jobs[i].end, whole.jobs[i].end);
        assert_true(whole.jobs[i].stay_count > 0);
        assert_int_equal(brief.jobs[i].stay_count, 0);
    }
    schedule_free(&whole);
    schedule_free(&brief);
}

/* By way of its JSON, as a user's replay. */
static struct schedule recorded(const struct machine *machine)
{
    struct schedule schedule = run(machine), read;
    struct error error = {0};
    cJSON *json = schedule_json(&schedule);
    if (schedule_read(&read, json, &error))
        fail_msg("%s", error.text);
    assert_string_equal(read.policy, schedule.policy);
    cJSON_Delete(json);
    schedule_free(&schedule);
    return read;
}

static void a_replay(void **state)
{
    (void)state;
    struct machine machine;
    resized_and_noisy(&machine);
    struct schedule record = recorded(&machine), again;
    assert_int_equal(record.decision_count, 5);
    resized_and_noisy(&machine);
    machine.simulation.replay = &record;
    again = run(&machine);
    schedule_free(&again);
    resized_and_noisy(&machine);
    machine.simulation.replay = &record;
    machine.works[1].submit = 2;
    run_fails(&machine, "differs in decision 2: at 2 start of job 2", "recorded is at 1 start of job 2");
    resized_and_noisy(&machine);
    machine.simulation.replay = &record;
    steps.count = 2;
    run_fails(&machine, "ends after 4 decisions", "at 12 resize of job 2 from 1 to 2 nodes");
    schedule_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(easy_by_hand),
        cmocka_unit_test(a_growth_by_hand),
        cmocka_unit_test(weak_scaling_by_hand),
        cmocka_unit_test(a_shrink_by_hand),
        cmocka_unit_test(a_rigid_phase_is_not_interrupted),
        cmocka_unit_test(a_job_that_ends_in_a_rigid_phase_drops_its_resize),
        cmocka_unit_test(a_phase_refuses_a_size),
        cmocka_unit_test(measured_jobs),
        cmocka_unit_test(an_evolving_job_asks),
        cmocka_unit_test(a_node_fails),
        cmocka_unit_test(a_node_fails_that_a_job_is_to_get),
        cmocka_unit_test(the_second_resize_is_refused),
        cmocka_unit_test(a_script_of_nonsense),
        cmocka_unit_test(against_the_best),
        cmocka_unit_test(the_same_run_is_the_same_text),
        cmocka_unit_test(a_brief_schedule),
        cmocka_unit_test(a_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
