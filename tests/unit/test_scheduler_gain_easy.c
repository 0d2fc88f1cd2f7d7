/* With rigid jobs alone the policy gain is EASY backfilling: in random workloads all jobs start when they do there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "scheduler/policies/policies.h"
#include "scheduler/simulated/simulate.h"

enum { JOBS = 150, NODES = 32, SEEDS = 40 };

static struct work works[JOBS];
static struct phase loops[JOBS];
static uint64_t bits;

/* From 0 to 1. */
static double drawn(void)
{
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    return (double)(bits >> 11) / 9007199254740992.0;
}

/* `wrong`: limits are up to so many times the true ones. */
static struct workload draw(uint64_t seed, double wrong)
{
    double time = 0;
    bits = seed * UINT64_C(0x9e3779b97f4a7c15);
    double gap = 5 + 60 * drawn();
    for (int i = 0; i < JOBS; i++) {
        int nodes = (int)(pow(NODES, drawn()) + 0.5);
        double seconds = floor(1 + pow(10, 3 * drawn()));
        time += floor(-log(1 - drawn()) * gap);
        loops[i] = (struct phase){.name = (char *)"loop", .elastic = true, .iterations = seconds, .seconds = nodes};
        works[i] = (struct work){.id = i + 1, .submit = time, .wanted = nodes, .range = {.min = nodes, .max = nodes}};
        works[i].limit = seconds * (1 + (wrong - 1) * drawn());
        works[i].phases = &loops[i];
        works[i].phase_count = 1;
    }
    return (struct workload){.name = (char *)"drawn", .nodes = NODES, .works = works, .count = JOBS};
}

static struct schedule run(const struct workload *workload, const char *spec, bool exact)
{
    struct policy policy;
    struct schedule schedule;
    struct error error = {0};
    if (policy_open(&policy, spec, policies, &error))
        fail_msg("%s", error.text);
    struct simulation simulation = {.workload = workload, .policy = &policy, .exact = exact};
    if (simulate(&simulation, &schedule, &error))
        fail_msg("%s", error.text);
    policy_close(&policy);
    return schedule;
}

static void compare(uint64_t seed, double wrong)
{
    struct workload workload = draw(seed, wrong);
    struct schedule easy = run(&workload, "easy", wrong == 1), gain = run(&workload, "gain", wrong == 1);
    for (int i = 0; i < JOBS; i++)
        if (easy.jobs[i].start != gain.jobs[i].start)
            fail_msg("seed %d: job %d starts at %g, and with easy at %g", (int)seed, i + 1, gain.jobs[i].start,
                     easy.jobs[i].start);
    schedule_free(&easy);
    schedule_free(&gain);
}

static void test_true_limits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        compare(seed, 1);
}

static void test_limits_that_are_too_long(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        compare(seed, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_limits),
        cmocka_unit_test(test_limits_that_are_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
