/* Opening policies, then running them: see trials.h. */
#include "scheduler/epopsim/trials.h"

#include <stdio.h>
#include <stdlib.h>

#include "scheduler/core/policy.h"
#include "scheduler/epopsim/bar.h"
#include "scheduler/epopsim/complain.h"
#include "scheduler/epopsim/policies.h"
#include "scheduler/epopsim/recorded.h"
#include "scheduler/policies/policies.h"
#include "scheduler/simulated/script.h"
#include "scheduler/simulated/simulate.h"

/* All that is opened before the first run, so that what is wrong is said at once. */
struct cast {
    const struct options *options;
    struct policy *policies;
    size_t count; /* of those that are open */
    struct script script;
    struct recorded recorded;
};

static void dismiss(struct cast *cast)
{
    for (size_t i = 0; i < cast->count; i++)
        policy_close(&cast->policies[i]);
    free(cast->policies);
    script_free(&cast->script);
    recorded_free(&cast->recorded);
}

static bool has_job(const struct workload *workload, int64_t id)
{
    for (size_t i = 0; i < workload->count; i++)
        if (workload->works[i].id == id)
            return true;
    return false;
}

/* The script, and that it is one for this workload. */
static int read_script(struct cast *cast, const struct workload *workload, struct error *error)
{
    const char *path = cast->options->script;
    const struct script *script = &cast->script;
    if (!path)
        return 0;
    if (script_read(&cast->script, path, error))
        return -1;
    for (size_t i = 0; i < script->node_count; i++)
        if (script->nodes[i].node >= workload->nodes)
            return error_set(error, ERROR_REFUSED, "%s:%d: there is no node %d: the machine has 0 to %d", path,
                             script->nodes[i].line, script->nodes[i].node, workload->nodes - 1);
    for (size_t i = 0; i < script->resize_count; i++)
        if (!has_job(workload, script->resizes[i].job))
            return error_set(error, ERROR_REFUSED, "%s:%d: there is no job %lld in the workload", path,
                             script->resizes[i].line, (long long)script->resizes[i].job);
    return 0;
}

/* Without any named: those of the replay, or all that are built in. */
static int name_policies(struct cast *cast, struct options *options, struct error *error)
{
    if (options->policy_count > 0)
        return 0;
    if (options->replay)
        return recorded_policies(&cast->recorded, &options->policies, &options->policy_count, &options->policy_room,
                                 error);
    return policy_words_default(&options->policies, &options->policy_count, &options->policy_room, error);
}

static int gather(struct cast *cast, struct options *options, const struct workload *workload, struct error *error)
{
    *cast = (struct cast){.options = options};
    if ((options->replay && recorded_read(&cast->recorded, options->replay, error)) ||
        name_policies(cast, options, error))
        return -1;
    if (read_script(cast, workload, error))
        return -1;
    cast->policies = calloc(options->policy_count, sizeof *cast->policies);
    if (!cast->policies)
        return error_memory(error);
    for (; cast->count < options->policy_count; cast->count++)
        if (policy_open(&cast->policies[cast->count], options->policies[cast->count], policies, error))
            return -1;
    return 0;
}

static int run(struct trial *trial, const struct cast *cast, size_t place, const struct workload *workload,
               struct error *error)
{
    const struct options *options = cast->options;
    struct bar bar = {.label = options->policies[place], .shown = !options->quiet};
    struct simulation simulation = {.workload = workload,
                                    .policy = &cast->policies[place],
                                    .script = options->script ? &cast->script : NULL,
                                    .costs = options->costs,
                                    .latency = options->latency,
                                    .noise = options->noise,
                                    .seed = options->transform.seed,
                                    .exact = !options->script && limits_are_exact(workload),
                                    .progress = bar_show,
                                    .context = &bar};
    *trial = (struct trial){.spec = options->policies[place]};
    if (options->replay &&
        recorded_find(&cast->recorded, cast->policies[place].table.name, trial->spec, &simulation.replay, error))
        return -1;
    int failed = simulate(&simulation, &trial->schedule, error);
    bar_clear(&bar);
    return failed;
}

/* A job that could not even wait has an event that says why. */
static void say_undone(const struct trial *trial)
{
    const struct metrics *metrics = &trial->schedule.metrics;
    if (metrics->done < metrics->jobs)
        fprintf(stderr, "note: %s: %d of %d jobs were not done (--output says why)\n", trial->spec,
                metrics->jobs - metrics->done, metrics->jobs);
}

static void say_above_cap(const struct trial *trial, double cap)
{
    double peak = trial->schedule.metrics.peak_watts;
    if (cap > 0 && peak > cap * (1 + 1e-9))
        fprintf(stderr, "note: %s: its peak is %g W, above the power cap of %g W\n", trial->spec, peak, cap);
}

static void say_replayed(const struct trial *trial, const char *path)
{
    if (path)
        fprintf(stderr, "note: %s: %zu decisions, all the same as in %s\n", trial->spec, trial->schedule.decision_count,
                path);
}

static void say_done(const struct trial *trial, const struct options *options, const struct workload *workload)
{
    say_undone(trial);
    if (options->quiet)
        return;
    say_above_cap(trial, workload->power_cap);
    say_replayed(trial, options->replay);
}

static void run_all(struct trials *trials, const struct cast *cast, const struct workload *workload, size_t *failed)
{
    struct error error;
    for (size_t i = 0; i < cast->count; i++) {
        if (!run(&trials->trials[trials->count], cast, i, workload, &error)) {
            say_done(&trials->trials[trials->count++], cast->options, workload);
            continue;
        }
        complain(EXIT_FAILED, &error);
        ++*failed;
    }
}

/* Why the decisions may not come again, before they do not. */
static void say_differences(const struct cast *cast, const struct workload *workload)
{
    static const struct trials none = {0};
    if (!cast->options->replay || cast->options->quiet)
        return;
    cJSON *now = trials_metrics_json(&none, cast->options, workload);
    if (now)
        recorded_differences(stderr, &cast->recorded, now);
    cJSON_Delete(now);
}

int trials_run(struct trials *trials, struct options *options, const struct workload *workload, size_t *failed,
               struct error *error)
{
    struct cast cast;
    *trials = (struct trials){0};
    policy_guard_install(options->patience, options->patience * (POLICY_GUARD_ALONE / POLICY_GUARD_BUSY));
    int wrong = gather(&cast, options, workload, error);
    *failed = 0;
    if (!wrong && !(trials->trials = calloc(cast.count, sizeof *trials->trials)))
        wrong = error_memory(error);
    if (!wrong) {
        say_differences(&cast, workload);
        run_all(trials, &cast, workload, failed);
    }
    dismiss(&cast);
    if (wrong)
        trials_free(trials);
    return wrong;
}

void trials_free(struct trials *trials)
{
    for (size_t i = 0; i < trials->count; i++)
        schedule_free(&trials->trials[i].schedule);
    free(trials->trials);
    *trials = (struct trials){0};
}
