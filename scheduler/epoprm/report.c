/*
 * epoprm report: what the journal knows as a record of a schedule, and epop-report to make a page of it. The record
 * is filled into what the simulator keeps of a run (struct schedule), so that the figures have the same formulas, and
 * the record the same layout.
 */
#include "scheduler/epoprm/command.h"
#include "scheduler/simulated/schedule_json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "scheduler/core/topology.h"
#include "scheduler/hosts/accounts.h"
#include "scheduler/hosts/power.h"
#include "scheduler/journal/journal.h"
#include "scheduler/workload/workload.h"
#include "terminal/output.h"

/* ---- Nodes -------------------------------------------------------------------------------------- */

struct record {
    struct journal *journal;
    struct workload workload;
    struct schedule schedule;
    char **names; /* of the nodes, by number */
    size_t name_room;
    struct shares shares;             /* of the last daemon, as accounts_read has them */
    struct power_watts usual, *watts; /* of a node that nothing else is said of, and of each; 0: not known */
    double power_cap;
    double first, now;       /* wall clock; the record's times are from `first` on */
    double held;             /* node seconds */
    double latency, longest; /* seconds from decision to commit: of all that committed; the longest */
    size_t job_room;
    bool full; /* no memory */
};

static void take_node(void *to, const struct journal_node *node)
{
    struct record *record = to;
    if (array_reserve(&record->names, &record->name_room, (size_t)record->workload.nodes + 1, sizeof *record->names) ||
        !(record->names[record->workload.nodes] = strdup(node->name)))
        record->full = true;
    else
        record->workload.nodes++;
}

static int node_of(const struct record *record, const char *name, size_t length)
{
    for (int i = 0; i < record->workload.nodes; i++)
        if (strlen(record->names[i]) == length && !strncmp(record->names[i], name, length))
            return i;
    return -1;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Names that are no nodes any more are left out. The caller's to free; NULL: no memory. */
static int *nodes_of(const struct record *record, const char *names, int *count)
{
    int *nodes = malloc((strlen(names) + 1) * sizeof *nodes);
    *count = 0;
    for (const char *at = names; nodes && *at;) {
        size_t length = strcspn(at, ",");
        int node = node_of(record, at, length);
        if (node >= 0)
            nodes[(*count)++] = node;
        at += length + (at[length] == ',');
    }
    if (nodes)
        qsort(nodes, (size_t)*count, sizeof *nodes, ascending);
    return nodes;
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

static epop_policy_kind_t kind_of(const char *kind)
{
    return !strcmp(kind, "rigid")      ? EPOP_RIGID
           : !strcmp(kind, "moldable") ? EPOP_MOLDABLE
           : !strcmp(kind, "evolving") ? EPOP_EVOLVING
                                       : EPOP_MALLEABLE;
}

static enum outcome outcome_of(const struct journal_job *job)
{
    if (job->ended < 0)
        return job->started < 0 ? OUTCOME_WAITING : OUTCOME_RUNNING;
    if (job->started < 0)
        return OUTCOME_NEVER;
    return strcmp(job->state, "done") ? OUTCOME_FAILED : OUTCOME_DONE;
}

/* How long it takes alone at the nodes that it wants is added up by take_stay. */
static struct work work_of(const struct record *record, const struct journal_job *job, struct phase *phase)
{
    bool counted = record->shares.other > 0 || (job->account && *job->account);
    *phase = (struct phase){.iterations = 1, .seconds = 1e-3, .speedup = {.model = SPEEDUP_AMDAHL, .serial = 1}};
    return (struct work){.id = job->number,
                         .name = strdup(job->name),
                         .account = counted ? strdup(accounts_of(job->account)) : NULL,
                         .kind = kind_of(job->kind),
                         .submit = job->submitted - record->first,
                         .wanted = job->wanted,
                         .range = {.min = job->nodes_min, .max = job->nodes_max},
                         .limit = job->limit,
                         .deadline = job->deadline > 0 ? job->deadline - job->submitted : 0,
                         .phases = phase,
                         .phase_count = 1};
}

static void take_job(void *to, const struct journal_job *job)
{
    struct record *record = to;
    struct workload *workload = &record->workload;
    struct schedule *schedule = &record->schedule;
    if (!workload->count)
        record->first = job->submitted;
    struct phase *phase = malloc(sizeof *phase);
    if (!phase || array_reserve(&workload->works, &workload->room, workload->count + 1, sizeof *workload->works) ||
        array_reserve(&schedule->jobs, &record->job_room, schedule->job_count + 1, sizeof *schedule->jobs)) {
        free(phase);
        record->full = true;
        return;
    }
    workload->works[workload->count++] = work_of(record, job, phase);
    schedule->jobs[schedule->job_count++] = (struct job_record){
        .start = job->started - record->first, .end = job->ended - record->first, .outcome = outcome_of(job)};
}

/* Until when it waited. */
static double waited_until(const struct job_record *job)
{
    return job->outcome == OUTCOME_WAITING ? INFINITY : job->outcome == OUTCOME_NEVER ? job->end : job->start;
}

/* Those that started while an earlier one waited on; one decision starts several, a moment apart. */
static int count_backfilled(const struct schedule *schedule)
{
    static const double moment = 0.1;
    double latest = -INFINITY;
    int count = 0;
    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct job_record *job = &schedule->jobs[i];
        bool started = job->outcome != OUTCOME_WAITING && job->outcome != OUTCOME_NEVER;
        count += started && job->start + moment < latest;
        latest = fmax(latest, waited_until(job));
    }
    return count;
}

/* The works do not move any more. */
static void tie_works(struct record *record)
{
    for (size_t i = 0; i < record->schedule.job_count; i++)
        record->schedule.jobs[i].work = &record->workload.works[i];
}

static int by_id(const void *number, const void *work)
{
    int64_t id = ((const struct work *)work)->id;
    return *(const int64_t *)number < id ? -1 : *(const int64_t *)number > id;
}

/* The journal has them by number. */
static struct job_record *job_of(const struct record *record, int64_t number)
{
    const struct workload *workload = &record->workload;
    const struct work *work = bsearch(&number, workload->works, workload->count, sizeof *workload->works, by_id);
    return work ? &record->schedule.jobs[work - workload->works] : NULL;
}

/* As its limit does, the time at the wanted nodes goes with node seconds. */
static void take_stay(void *to, const struct journal_stay *stay)
{
    struct record *record = to;
    struct job_record *job = job_of(record, stay->job);
    double begin = stay->begin - record->first, end = (stay->end < 0 ? record->now : stay->end) - record->first;
    int count, *nodes = job ? nodes_of(record, stay->nodes, &count) : NULL;
    if (!nodes)
        return;
    if (count) { /* else on nodes of a daemon before, that this one has not */
        record->held += count * (end - begin);
        job->work->phases[0].seconds += count * (end - begin) / job->work->wanted;
        record->full |= record_more(job, begin, nodes, count) != 0;
        record_none(job, end);
    }
    free(nodes);
}

/* ---- Energy and power --------------------------------------------------------------------------- */

/* The daemon writes it down once a minute. */
static void take_energy(void *to, const struct journal_energy *energy)
{
    struct record *record = to;
    struct job_record *job = job_of(record, energy->job);
    if (!job)
        return;
    job->joules = energy->joules;
    const struct stay *last = job->stay_count ? &job->stays[job->stay_count - 1] : NULL;
    for (int i = 0; last && job->outcome == OUTCOME_RUNNING && i < last->count; i++)
        job->joules += record->watts[last->nodes[i]].busy * fmax(0, record->now - energy->time);
}

/* A stay begins or ends: what all nodes draw changes by so many watts. */
struct change {
    double time, watts;
};

static int by_time(const void *one, const void *other)
{
    const struct change *a = one, *b = other;
    return a->time < b->time ? -1 : a->time > b->time ? 1 : (a->watts > b->watts) - (a->watts < b->watts);
}

/* What nodes draw more as they are busy, at most at a time. */
static double most_at_a_time(struct change *changes, size_t count)
{
    double now = 0, most = 0;
    qsort(changes, count, sizeof *changes, by_time);
    for (size_t i = 0; i < count; i++) {
        now += changes[i].watts;
        most = fmax(most, now);
    }
    return most;
}

struct power {
    struct change *changes;
    size_t count, room;
    double idle_saved; /* joules that busy nodes would have used if they had been idle */
};

static int add_stay_power(const struct record *record, struct power *power, const struct stay *stay)
{
    double more = 0;
    if (array_reserve(&power->changes, &power->room, power->count + 2, sizeof *power->changes))
        return -1;
    for (int i = 0; i < stay->count; i++) {
        const struct power_watts watts = record->watts[stay->nodes[i]];
        more += watts.busy - watts.idle;
        power->idle_saved += watts.idle * (stay->end - stay->begin);
    }
    power->changes[power->count++] = (struct change){stay->begin, more};
    power->changes[power->count++] = (struct change){stay->end, -more};
    return 0;
}

/* Jobs' nodes as the journal has it, the others idle, from the first submission to the last end. */
static void sum_power(struct record *record)
{
    struct metrics *metrics = &record->schedule.metrics;
    struct power power = {0};
    double idle = 0, used = 0;
    for (int i = 0; i < record->workload.nodes; i++)
        idle += record->watts[i].idle;
    for (size_t i = 0; i < record->schedule.job_count; i++) {
        const struct job_record *job = &record->schedule.jobs[i];
        used += job->joules;
        for (int stay = 0; stay < job->stay_count; stay++)
            record->full |= add_stay_power(record, &power, &job->stays[stay]) != 0;
    }
    metrics->joules = fmax(used, used + idle * metrics->makespan - power.idle_saved);
    metrics->peak_watts = idle + most_at_a_time(power.changes, power.count);
    free(power.changes);
}

/* ---- Resizes, decisions and events -------------------------------------------------------------- */

static void take_resize(void *to, const struct journal_resize *resize)
{
    struct record *record = to;
    struct job_record *job = job_of(record, resize->job);
    struct metrics *metrics = &record->schedule.metrics;
    bool committed = resize->times[JOURNAL_COMMITTED] >= 0;
    if (!strcmp(resize->outcome, "refused") || !strcmp(resize->outcome, "failed"))
        metrics->refused++;
    if (!committed || !job)
        return;
    double latency = fmax(0, resize->times[JOURNAL_COMMITTED] - resize->times[JOURNAL_DECIDED]);
    record->latency += latency;
    record->longest = fmax(record->longest, latency);
    job->resizes++;
    *(resize->from < resize->to ? &metrics->grown : &metrics->shrunk) += 1;
}

static void count_requeue(struct record *record, int64_t number)
{
    struct job_record *job = job_of(record, number);
    record->schedule.metrics.requeues++;
    if (job)
        job->requeues++;
}

static void take_decision(struct record *record, const struct journal_event *event)
{
    int count, *nodes = nodes_of(record, event->nodes && event->at < 0 ? event->nodes : "", &count);
    struct decision decision = {.kind = event->at >= 0 ? DECISION_RESERVE
                                        : event->from  ? DECISION_RESIZE
                                                       : DECISION_START,
                                .job = event->job,
                                .from = event->from,
                                .to = event->to,
                                .nodes = nodes,
                                .count = count,
                                .time = event->at - record->first};
    snprintf(decision.reason, sizeof decision.reason, "%s", event->text);
    record->full |= !nodes || record_decision(&record->schedule, event->time - record->first, &decision);
    free(nodes);
}

static char *event_text(const struct journal_event *event)
{
    char job[48] = "", sizes[64] = "", *text = NULL;
    if (event->job > 0)
        snprintf(job, sizeof job, " of job %lld", (long long)event->job);
    if (event->from && event->to)
        snprintf(sizes, sizeof sizes, ", %d to %d nodes", event->from, event->to);
    return asprintf(&text, "%s%s%s%s%s", event->kind, job, sizes, *event->text ? ": " : "", event->text) < 0 ? NULL
                                                                                                             : text;
}

/* Steps, nodes, ends; when jobs were submitted the jobs say. */
static void take_event(void *to, const struct journal_event *event)
{
    struct record *record = to;
    bool decided = !strcmp(event->kind, "decision");
    if (!strcmp(event->kind, "requeued"))
        count_requeue(record, event->job);
    if (decided && event->to > 0)
        take_decision(record, event);
    else if (!decided && strcmp(event->kind, "submitted"))
        record->full |= record_event(&record->schedule, event->time - record->first, event_text(event)) != 0;
}

/* ---- The record --------------------------------------------------------------------------------- */

/* The journal has name and options as they were given: "ers,period=1". */
static int read_policy(struct record *record, struct error *error)
{
    struct schedule *schedule = &record->schedule;
    if (journal_meta_get(record->journal, "policy", &schedule->policy, error))
        return -1;
    char *comma = schedule->policy ? strchr(schedule->policy, ',') : NULL;
    schedule->options = strdup(comma ? comma + 1 : "");
    if (comma)
        *comma = '\0';
    return 0;
}

/* As epoprm start was told; "" where it was not. */
static int read_watts(struct record *record, struct error *error)
{
    char *said = NULL;
    record->watts = calloc((size_t)record->workload.nodes + 1, sizeof *record->watts);
    if (!record->watts)
        return error_memory(error);
    int failed = journal_meta_get(record->journal, "watts", &said, error);
    const char *text = said && *said ? said : NULL;
    failed = failed || power_watts(text, NULL, &record->usual, error);
    for (int i = 0; i < record->workload.nodes && !failed; i++)
        failed = power_watts(text, record->names[i], &record->watts[i], error);
    free(said);
    return failed ? -1 : 0;
}

static int read_power(struct record *record, struct error *error)
{
    char *cap = NULL;
    int failed = read_watts(record, error) || journal_meta_get(record->journal, "power-cap", &cap, error) ||
                 journal_energies(record->journal, take_energy, record, error);
    record->power_cap = cap ? atof(cap) : 0;
    free(cap);
    return failed ? -1 : 0;
}

/* ---- Below how many switches jobs were ---------------------------------------------------------- */

static void add_leaves(const struct topology *topology, struct job_record *job)
{
    for (int i = 0; i < job->stay_count; i++) {
        const struct stay *stay = &job->stays[i];
        double seconds = stay->end - stay->begin;
        job->leaf_seconds += seconds * topology_leaves(topology, stay->nodes, stay->count);
        job->least_seconds += seconds * topology_least(topology, stay->count);
    }
}

/* By the file that the daemon was told last, as it is now; nothing is told where it does not have all nodes. */
static int sum_leaves(struct record *record, struct error *error)
{
    struct topology topology;
    struct error unheard;
    char *path = NULL;
    if (journal_meta_get(record->journal, "topology", &path, error))
        return -1;
    if (path && *path &&
        !topology_read(&topology, path, (const char *const *)record->names, record->workload.nodes, &unheard)) {
        for (size_t i = 0; i < record->schedule.job_count; i++)
            add_leaves(&topology, &record->schedule.jobs[i]);
        topology_free(&topology);
    }
    free(path);
    return 0;
}

/* As the daemon was told last; nothing is told where its file is not there any more. */
static int read_shares(struct record *record, struct error *error)
{
    struct error unheard;
    char *shares = NULL, *half = NULL;
    int failed = journal_meta_get(record->journal, "shares", &shares, error) ||
                 journal_meta_get(record->journal, "half-life", &half, error);
    if (!failed && shares && *shares && half &&
        !accounts_read(&record->shares, shares, atof(half), record->now, record->journal, &unheard))
        shares_rank(&record->shares);
    free(shares);
    free(half);
    return failed ? -1 : 0;
}

static int read_all(struct record *record, struct error *error)
{
    record->now = wall_seconds();
    if (read_shares(record, error) || journal_nodes(record->journal, take_node, record, error) ||
        journal_jobs(record->journal, true, take_job, record, error))
        return -1;
    if (!record->workload.count)
        return error_set(error, ERROR_REFUSED, "no job was submitted yet: there is nothing to report");
    tie_works(record);
    if (journal_stays(record->journal, take_stay, record, error) || read_power(record, error) ||
        journal_resizes(record->journal, true, take_resize, record, error) ||
        journal_events(record->journal, 0, 0, take_event, record, error) || read_policy(record, error) ||
        sum_leaves(record, error))
        return -1;
    if (record->full || metrics_sum(&record->schedule, &record->workload, record->held, error))
        return error_memory(error);
    return record->shares.other > 0 ? accounts_sum(&record->schedule, &record->shares, error) : 0;
}

/* Over the time until now while jobs run; how much of it was needed is not known of a real job. */
static void correct_figures(struct record *record)
{
    struct metrics *metrics = &record->schedule.metrics;
    for (size_t i = 0; i < record->schedule.job_count; i++) {
        const struct job_record *job = &record->schedule.jobs[i];
        double end = job->outcome == OUTCOME_RUNNING  ? record->now - record->first
                     : job->outcome == OUTCOME_FAILED ? job->end
                                                      : 0;
        metrics->makespan = fmax(metrics->makespan, end);
    }
    metrics->efficiency = 0;
    metrics->backfilled = count_backfilled(&record->schedule);
    metrics->utilisation = metrics->makespan > 0 && record->workload.nodes > 0
                               ? fmin(1, record->held / (record->workload.nodes * metrics->makespan))
                               : 0;
    if (record->usual.busy > 0)
        sum_power(record);
}

static cJSON *head_of_record(const struct record *record)
{
    cJSON *json = cJSON_CreateObject(), *workload = cJSON_CreateObject(), *machine = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "epop.schedule");
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "program", "epoprm " EPOP_VERSION);
    cJSON_AddStringToObject(workload, "name", "jobs of epoprm");
    cJSON_AddNumberToObject(workload, "jobs", (double)record->workload.count);
    cJSON_AddArrayToObject(workload, "notes");
    cJSON_AddNumberToObject(machine, "nodes", record->workload.nodes);
    cJSON_AddNumberToObject(machine, "idle_watts", record->usual.idle);
    cJSON_AddNumberToObject(machine, "busy_watts", record->usual.busy);
    cJSON_AddNumberToObject(machine, "power_cap", record->power_cap);
    cJSON_AddItemToObject(json, "workload", workload);
    cJSON_AddItemToObject(json, "machine", machine);
    cJSON_AddObjectToObject(json, "options");
    return json;
}

/* Known of real resizes alone: in a simulation it is an option. */
static void add_latency(cJSON *metrics, const struct record *record)
{
    int resizes = record->schedule.metrics.grown + record->schedule.metrics.shrunk;
    cJSON_AddNumberToObject(metrics, "mean_latency", resizes ? record->latency / resizes : 0);
    cJSON_AddNumberToObject(metrics, "max_latency", record->longest);
}

static cJSON *whole_record(const struct record *record)
{
    cJSON *json = head_of_record(record), *run = schedule_json(&record->schedule);
    add_latency(cJSON_GetObjectItem(run, "metrics"), record);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "runs"), run);
    return json;
}

static void free_record(struct record *record)
{
    for (int i = 0; i < record->workload.nodes; i++)
        free(record->names[i]);
    for (size_t i = 0; i < record->workload.count; i++) {
        free(record->workload.works[i].phases);
        free(record->workload.works[i].name);
        free(record->workload.works[i].account);
    }
    free(record->workload.works);
    free(record->names);
    shares_free(&record->shares);
    free(record->watts);
    schedule_free(&record->schedule);
}

/* NULL: the line says why. Times are seconds from the first submission. */
static cJSON *make_record(struct journal *journal, struct error *error)
{
    struct record record = {.journal = journal};
    cJSON *json = NULL;
    if (!read_all(&record, error)) {
        correct_figures(&record);
        json = whole_record(&record);
    }
    free_record(&record);
    return json;
}

/* ---- The command -------------------------------------------------------------------------------- */

static int write_record(const cJSON *record, const char *path)
{
    char *text = cJSON_PrintUnformatted(record);
    int failed = text ? term_write(path, text, "\n") : ENOMEM;
    if (failed)
        term_complain("report: %s: cannot be written: %s", path, strerror(failed));
    free(text);
    return failed ? COMMAND_REFUSED : COMMAND_DONE;
}

static int run_program(char *program, char *input, char *output)
{
    char *argv[] = {program, input, "-o", output, NULL};
    struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = STDOUT_FILENO, .err = STDERR_FILENO};
    pid_t pid;
    int status, failed = spawn_program(&what, &pid);
    if (failed) {
        term_complain("report: %s: %s", program, strerror(failed));
        return COMMAND_REFUSED;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? COMMAND_DONE : COMMAND_REFUSED;
}

static int make_page(const cJSON *record, const char *output)
{
    char input[] = "/tmp/epoprm-XXXXXX.json", *program = rm_beside("bin/epop-report");
    char *page = strdup(output);
    int file = program && page ? mkstemps(input, 5) : -1;
    int code = file >= 0 ? write_record(record, input) : COMMAND_REFUSED;
    if (!program)
        term_complain(
            "report: epop-report is not here: it was left out of the build (REPORT=no); --format json has the "
            "record that it wants");
    else if (file < 0)
        term_complain("report: %s: %s", input, strerror(errno));
    if (code == COMMAND_DONE)
        code = run_program(program, input, page);
    if (file >= 0) {
        close(file);
        unlink(input);
    }
    free(program);
    free(page);
    return code;
}

int rm_report(const struct options *arguments)
{
    bool json = arguments->format && !strcmp(arguments->format, "json");
    struct journal *journal;
    struct error error;
    if (!arguments->output || (arguments->format && !json && strcmp(arguments->format, "html"))) {
        term_complain(arguments->output ? "report: --format: html or json" : "report: where to? -o FILE");
        return COMMAND_USAGE;
    }
    if (rm_journal(&journal, &error)) {
        term_complain("report: %s", error.text);
        return COMMAND_NO_JOB;
    }
    cJSON *record = make_record(journal, &error);
    journal_close(journal);
    if (!record)
        term_complain("report: %s", error.text);
    int code = !record ? COMMAND_REFUSED
               : json  ? write_record(record, arguments->output)
                       : make_page(record, arguments->output);
    cJSON_Delete(record);
    return code;
}
