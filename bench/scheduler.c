/*
 * One decision of each policy on a large machine: 10,000 nodes, 1,000 jobs that run, 10,000 that wait.
 *     build/bench/scheduler
 * Prints a JSON line per policy: milliseconds of processor time, by the median and at most, of the first decision,
 * which finds all that at once, and of the next one, after a job has ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/core/core.h"
#include "scheduler/policies/policies.h"

#define NODES   10000
#define RUNNING 1000
#define WAITING 10000
#define NOW     7200 /* policies that act at regular times do so now */
#define ROUNDS  15

static uint64_t seed;

static int any(int from, int to)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (int)((seed >> 33) % (unsigned)(to - from + 1));
}

static void must(int result, const struct error *error)
{
    if (result) {
        fprintf(stderr, "scheduler: %s\n", error->text);
        exit(1);
    }
}

/* Half of them malleable. */
static void submit(struct core *core, int64_t id, int wanted, double now)
{
    struct error error;
    struct core_job job = {
        .id = id, .name = "job", .user = any(1, 100), .wanted = wanted, .limit = any(600, 86400), .bytes = 1e9};
    job.kind = any(0, 1) ? EPOP_MALLEABLE : EPOP_RIGID;
    job.range.min = job.kind == EPOP_MALLEABLE ? (wanted + 3) / 4 : wanted;
    job.range.max = job.kind == EPOP_MALLEABLE ? 4 * wanted : wanted;
    must(core_submit(core, now, &job, &error), &error);
}

static void start_all(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    (void)settings;
    for (int i = 0; i < state->waiting_count; i++)
        epop_plan_start(plan, state->waiting[i], state->waiting[i]->wanted, "it fits");
}

/* Of a program with a serial share of 1 %, more or less. */
static void measure_at(struct core *core, int64_t id, int nodes, double mtct)
{
    struct error error;
    double change;
    epop_policy_sample_t sample = {.nodes = nodes, .iterations = 1000, .seconds = 0.01 + 0.99 / nodes, .mtct = mtct};
    sample.trend = sample.lo = sample.hi = mtct;
    must(core_measured(core, id, &sample, &change, &error), &error);
}

/* Measured at the size that they have, and at two that they had; what they have left is told. */
static void measure(struct core *core, double now)
{
    struct error error;
    for (int64_t id = 1; id <= RUNNING; id++) {
        int nodes = core_job(core, id)->nodes;
        double mtct = any(1, 2000) / 10000.;
        measure_at(core, id, nodes, mtct);
        if (core_job(core, id)->kind == EPOP_MALLEABLE) {
            measure_at(core, id, nodes / 2, mtct / 2);
            measure_at(core, id, 2 * nodes, 2 * mtct);
        }
        must(core_told(core, now, id, any(60, 80000), &error), &error);
    }
}

/* Some 96 % of the nodes are busy. */
static struct core *machine(void)
{
    const struct core_costs costs = {0.4, 0.001, 1e-9};
    const struct policy all = {.table = {.name = "all", .decide = start_all}};
    struct decisions decisions;
    struct error error;
    struct core *core = core_create(NODES, &costs, 0);
    seed = 1;
    if (!core)
        exit(1);
    for (int i = 0; i < RUNNING; i++)
        submit(core, i + 1, any(5, 14), i);
    must(core_decide(core, RUNNING, &all, &decisions, &error), &error);
    for (int i = 0; i < WAITING; i++)
        submit(core, RUNNING + 1 + i, any(1, 200), RUNNING + 1 + i / 10.);
    measure(core, NOW - 1);
    return core;
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Of the processor, as the machine may do other things. */
static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Milliseconds, and how many decisions were made. */
static double decide(struct core *core, double now, const struct policy *policy, int *count)
{
    double ms;
    struct decisions decisions;
    struct error error;
    double begin = seconds();
    must(core_decide(core, now, policy, &decisions, &error), &error);
    ms = (seconds() - begin) * 1e3;
    *count = decisions.count;
    return ms;
}

static void one_round(const struct policy *policy, double *first, double *next, int counts[2])
{
    struct core *core = machine();
    struct error error;
    *first = decide(core, NOW, policy, &counts[0]);
    must(core_ended(core, NOW + 1, 1, &error), &error);
    *next = decide(core, NOW + 1, policy, &counts[1]);
    core_destroy(core);
}

static void bench(const char *name)
{
    struct policy policy;
    struct error error;
    double first[ROUNDS], next[ROUNDS];
    int counts[2];
    must(policy_open(&policy, name, policies, &error), &error);
    for (int i = 0; i < ROUNDS; i++)
        one_round(&policy, &first[i], &next[i], counts);
    qsort(first, ROUNDS, sizeof *first, ascending);
    qsort(next, ROUNDS, sizeof *next, ascending);
    printf("{\"bench\": \"scheduler\", \"policy\": \"%s\", \"nodes\": %d, \"running\": %d, \"waiting\": %d, "
           "\"first_ms\": %.3f, \"first_most_ms\": %.3f, \"first_decisions\": %d, \"next_ms\": %.3f, \"next_most_ms\": "
           "%.3f, \"next_decisions\": %d}\n",
           name, NODES, RUNNING, WAITING, first[ROUNDS / 2], first[ROUNDS - 1], counts[0], next[ROUNDS / 2],
           next[ROUNDS - 1], counts[1]);
    policy_close(&policy);
}

int main(void)
{
    for (const epop_policy_t *const *each = policies; *each; each++)
        bench((*each)->name);
    return 0;
}
