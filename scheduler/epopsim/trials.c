/* The workload under each policy: what is opened before, the runs, the line on the terminal, and replays. */
#include "scheduler/epopsim/trials.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/core/policy.h"
#include "scheduler/core/speeds.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/epopsim/output.h"
#include "scheduler/policies/policies.h"
#include "scheduler/simulated/schedule_json.h"
#include "scheduler/simulated/script.h"
#include "scheduler/simulated/simulate.h"
#include "scheduler/workload/input.h"

/* ---- A recorded run ----------------------------------------------------------------------------- */

/* A file of recorded runs, whose decisions are to come again. */
struct recorded {
    const char *path;
    struct schedule *runs;
    size_t count;
    cJSON *json; /* the whole file */
};

static int read_runs(struct recorded *recorded, const cJSON *runs, struct error *error)
{
    struct error why;
    recorded->runs = calloc((size_t)cJSON_GetArraySize(runs), sizeof *recorded->runs);
    if (!recorded->runs)
        return error_memory(error);
    for (const cJSON *run = runs->child; run; run = run->next, recorded->count++)
        if (schedule_read(&recorded->runs[recorded->count], run, &why))
            return error_set(error, ERROR_REFUSED, "%s: runs[%zu]: %s", recorded->path, recorded->count, why.text);
    return 0;
}

/* Metrics alone have runs, too. */
static bool is_schedule(const cJSON *json, const cJSON *runs)
{
    const char *schema = json_text(json, "schema");
    return schema && !strcmp(schema, "epop.schedule") && cJSON_IsArray(runs) && runs->child;
}

/* free_recorded is to be called in either case. */
static int read_recorded(struct recorded *recorded, const char *path, struct error *error)
{
    struct input input;
    *recorded = (struct recorded){.path = path};
    if (input_read(&input, path, error))
        return -1;
    recorded->json = cJSON_ParseWithLength(input.text, input.size);
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(recorded->json, "runs");
    int failed = is_schedule(recorded->json, runs)
                     ? read_runs(recorded, runs, error)
                     : error_set(error, ERROR_REFUSED,
                                 "%s: is no recorded run: give a file that `epopsim --output FILE` wrote", path);
    input_free(&input);
    return failed;
}

static void free_recorded(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        schedule_free(&recorded->runs[i]);
    free(recorded->runs);
    cJSON_Delete(recorded->json);
    *recorded = (struct recorded){0};
}

/* Where an option is in the file. */
static const struct setting {
    const char *object, *member, *option;
} settings[] = {
    {"workload", "jobs", "--jobs"},
    {"machine", "nodes", "--nodes"},
    {"machine", "idle_watts", "--watts, idle:"},
    {"machine", "busy_watts", "--watts, busy:"},
    {"machine", "power_cap", "--power-cap"},
    {"machine", "network", "--network"},
    {"machine", "file_system", "--file-system"},
    {"machine", "link", "--link"},
    {"options", "load", "--load"},
    {"options", "malleable", "--malleable"},
    {"options", "moldable", "--moldable"},
    {"options", "limit_factor", "--limit-factor"},
    {"options", "seed", "--seed"},
    {"options", "resize_base", "--resize-cost, in all:"},
    {"options", "resize_per_node", "--resize-cost, a node:"},
    {"options", "resize_per_byte", "--resize-cost, a byte:"},
    {"options", "latency", "--latency"},
    {"options", "noise", "--noise"},
    {"options", "kill_at_limit", "--kill-at-limit"},
};

/* As words: "--malleable 0.5". */
static void put_option(FILE *file, const struct setting *setting, const cJSON *item, const char *how)
{
    if (cJSON_IsNumber(item))
        fprintf(file, "%s %s %.10g", how, setting->option, item->valuedouble);
    else
        fprintf(file, "%sout %s", how, setting->option);
}

static const cJSON *member_at(const cJSON *json, const struct setting *setting)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, setting->object), setting->member);
}

static bool same_setting(const cJSON *was, const cJSON *is)
{
    if (!cJSON_IsNumber(was) || !cJSON_IsNumber(is))
        return cJSON_IsNumber(was) == cJSON_IsNumber(is);
    return fabs(was->valuedouble - is->valuedouble) <= 1e-9 * fabs(was->valuedouble);
}

/* A line for each option that is another now; `now` is the head of what would be written. */
static void say_changed_options(FILE *file, const struct recorded *recorded, const cJSON *now)
{
    for (const struct setting *setting = settings; setting < settings + sizeof settings / sizeof *settings; setting++) {
        const cJSON *was = member_at(recorded->json, setting), *is = member_at(now, setting);
        if (same_setting(was, is))
            continue;
        fprintf(file, "note: %s was recorded ", recorded->path);
        put_option(file, setting, was, "with");
        put_option(file, setting, is, ", this is with");
        fputc('\n', file);
    }
}

/* As --policy would name the recorded ones. */
static int take_recorded_policies(const struct recorded *recorded, struct options *options, struct error *error)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct schedule *run = &recorded->runs[i];
        char *word;
        if (asprintf(&word, "%s%s%s", run->policy, run->options[0] ? "," : "", run->options) < 0)
            word = NULL;
        if (options_add_policy(options, word, error))
            return -1;
    }
    return 0;
}

/* "upper=0.2" of "ers,upper=0.2". */
static const char *options_of(const char *spec)
{
    const char *comma = strchr(spec, ',');
    return comma ? comma + 1 : "";
}

/* The run of the policy of that name, with those options. -1: there is none. */
static int find_recorded(const struct recorded *recorded, const char *name, const char *spec,
                         const struct schedule **run, struct error *error)
{
    for (size_t i = 0; i < recorded->count; i++)
        if (!strcmp(recorded->runs[i].policy, name) && !strcmp(recorded->runs[i].options, options_of(spec))) {
            *run = &recorded->runs[i];
            return 0;
        }
    return error_set(error, ERROR_REFUSED, "policy %s: %s has no run of it with these options", spec, recorded->path);
}

/* ---- Progress ----------------------------------------------------------------------------------- */

/* A line on the terminal while a run goes on, drawn ten times a second at most. Nothing where standard error is none.
 */
struct bar {
    const char *label;
    bool shown;  /* it may be */
    bool drawn;  /* it is */
    double next; /* when to draw again */
};

#define PERIOD    0.1
#define BAR_WIDTH 30

static bool can_move_cursor(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && kind[0] && strcmp(kind, "dumb");
}

static void draw_bar(const struct bar *bar, size_t ended, size_t jobs, double now)
{
    char line[BAR_WIDTH + 1];
    size_t done = jobs > 0 ? ended * BAR_WIDTH / jobs : 0;
    memset(line, ' ', BAR_WIDTH);
    memset(line, '=', done);
    line[BAR_WIDTH] = 0;
    if (done < BAR_WIDTH)
        line[done] = '>';
    fprintf(stderr, "%.24s [%s] %3zu %%  %zu/%zu jobs  day %.1f\033[K\r", bar->label, line,
            jobs > 0 ? 100 * ended / jobs : 0, ended, jobs, now / 86400);
    fflush(stderr);
}

/* For struct simulation: its context is a struct bar. */
static void bar_show(void *context, size_t ended, size_t jobs, double now)
{
    struct bar *bar = context;
    if (!bar->shown || monotonic_seconds() < bar->next)
        return;
    bar->shown = can_move_cursor();
    bar->next = monotonic_seconds() + PERIOD;
    if (!bar->shown)
        return;
    draw_bar(bar, ended, jobs, now);
    bar->drawn = true;
}

static void bar_clear(struct bar *bar)
{
    if (bar->drawn)
        fputs("\033[K", stderr);
    bar->drawn = false;
}

/* ---- The runs ----------------------------------------------------------------------------------- */

/* All that is opened before the first run, so that what is wrong is said at once. */
struct cast {
    const struct options *options;
    struct policy *policies;
    size_t count; /* of those that are open */
    struct script script;
    struct topology topology;
    struct shares shares;
    double *speeds; /* NULL: all nodes are alike */
    struct recorded recorded;
};

static void close_cast(struct cast *cast)
{
    for (size_t i = 0; i < cast->count; i++)
        policy_close(&cast->policies[i]);
    free(cast->policies);
    script_free(&cast->script);
    topology_free(&cast->topology);
    shares_free(&cast->shares);
    free(cast->speeds);
    free_recorded(&cast->recorded);
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

static int read_nodes(struct cast *cast, const struct workload *workload, struct error *error)
{
    const struct options *options = cast->options;
    if (options->topology && topology_read(&cast->topology, options->topology, NULL, workload->nodes, error))
        return -1;
    const char *const *names = (const char *const *)cast->topology.names;
    return options->speeds ? speeds_read(&cast->speeds, options->speeds, names, workload->nodes, error) : 0;
}

/* Without any named: those of the replay, or those that are usually compared. */
static int name_policies(struct cast *cast, struct options *options, struct error *error)
{
    if (options->policy_count > 0)
        return 0;
    if (options->replay)
        return take_recorded_policies(&cast->recorded, options, error);
    return options_take_usual_policies(options, error);
}

static int open_cast(struct cast *cast, struct options *options, const struct workload *workload, struct error *error)
{
    *cast = (struct cast){.options = options};
    if ((options->replay && read_recorded(&cast->recorded, options->replay, error)) ||
        name_policies(cast, options, error))
        return -1;
    if (read_script(cast, workload, error) || read_nodes(cast, workload, error))
        return -1;
    if (options->shares && shares_read(&cast->shares, options->shares, options->half_life, error))
        return -1;
    cast->policies = calloc(options->policy_count, sizeof *cast->policies);
    if (!cast->policies)
        return error_memory(error);
    for (; cast->count < options->policy_count; cast->count++)
        if (policy_open(&cast->policies[cast->count], options->policies[cast->count], policies, error))
            return -1;
    return 0;
}

static int run_one(struct trial *trial, const struct cast *cast, size_t place, const struct workload *workload,
                   struct error *error)
{
    const struct options *options = cast->options;
    struct bar bar = {.label = options->policies[place], .shown = !options->quiet};
    struct simulation simulation = {.workload = workload,
                                    .policy = &cast->policies[place],
                                    .script = options->script ? &cast->script : NULL,
                                    .topology = options->topology ? &cast->topology : NULL,
                                    .spread_cost = options->spread_cost,
                                    .speeds = cast->speeds,
                                    .shares = options->shares ? &cast->shares : NULL,
                                    .costs = options->costs,
                                    .latency = options->latency,
                                    .noise = options->noise,
                                    .kill_at_limit = options->kill_at_limit,
                                    .seed = options->transform.seed,
                                    .brief = !options->output && !options->replay,
                                    .exact = !options->script && !cast->speeds && options->spread_cost <= 0 &&
                                             limits_are_exact(workload),
                                    .progress = bar_show,
                                    .context = &bar};
    *trial = (struct trial){.spec = options->policies[place]};
    if (options->replay &&
        find_recorded(&cast->recorded, cast->policies[place].table.name, trial->spec, &simulation.replay, error))
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
        if (!run_one(&trials->trials[trials->count], cast, i, workload, &error)) {
            say_done(&trials->trials[trials->count++], cast->options, workload);
            continue;
        }
        output_complain(EXIT_FAILED, &error);
        ++*failed;
    }
}

/* Why the decisions may not come again, before they do not. */
static void say_differences(const struct cast *cast, const struct workload *workload)
{
    static const struct trials none = {0};
    if (!cast->options->replay || cast->options->quiet)
        return;
    cJSON *now = output_metrics(&none, cast->options, workload);
    if (now)
        say_changed_options(stderr, &cast->recorded, now);
    cJSON_Delete(now);
}

int trials_run(struct trials *trials, struct options *options, const struct workload *workload, size_t *failed,
               struct error *error)
{
    struct cast cast;
    *trials = (struct trials){0};
    policy_guard_install(options->patience, options->patience * (POLICY_GUARD_ALONE / POLICY_GUARD_BUSY));
    int wrong = open_cast(&cast, options, workload, error);
    *failed = 0;
    if (!wrong && !(trials->trials = calloc(cast.count, sizeof *trials->trials)))
        wrong = error_memory(error);
    if (!wrong) {
        say_differences(&cast, workload);
        run_all(trials, &cast, workload, failed);
    }
    close_cast(&cast);
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
