/* A small machine and its jobs, for the tests of the scheduler: a policy that does what the test says. */
#ifndef TESTS_SCHEDULER_MACHINE_H
#define TESTS_SCHEDULER_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "scheduler/core/core.h"

static const struct core_costs no_costs;

static inline struct core_job rigid(int64_t id, int nodes, double limit)
{
    return (struct core_job){.id = id,
                             .name = "job",
                             .kind = EPOP_RIGID,
                             .wanted = nodes,
                             .range = {.min = nodes, .max = nodes},
                             .limit = limit};
}

static inline struct core_job malleable(int64_t id, int wanted, int min, int max, double limit)
{
    struct core_job job = rigid(id, wanted, limit);
    job.kind = EPOP_MALLEABLE;
    job.range = (epop_policy_range_t){.min = min, .max = max};
    return job;
}

/* What must not fail. */
static inline void submit(struct core *core, double now, struct core_job job)
{
    struct error error = {0};
    if (core_submit(core, now, &job, &error))
        fail_msg("%s", error.text);
}

static inline void told(int result, const struct error *error)
{
    if (result)
        fail_msg("%s", error->text);
}

/* What must fail, with that in its line. */
static inline void refused(int result, const struct error *error, const char *why)
{
    assert_int_equal(result, -1);
    if (!strstr(error->text, why) || strchr(error->text, '\n'))
        fail_msg("'%s' is not in '%s'", why, error->text);
}

/* The policy of a test: what it calls. */
typedef void (*decide_fn)(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan);

static inline struct policy of(decide_fn decide)
{
    return (struct policy){.table = {.name = "test", .decide = decide}};
}

static inline struct decisions decide_at(struct core *core, double now, const struct policy *policy)
{
    struct decisions decisions;
    struct error error = {0};
    if (core_decide(core, now, policy, &decisions, &error))
        fail_msg("%s", error.text);
    return decisions;
}

static inline void assert_nodes(const struct decision *decision, const int *nodes, int count)
{
    assert_int_equal(decision->count, count);
    assert_memory_equal(decision->nodes, nodes, (size_t)count * sizeof *nodes);
}

#endif
