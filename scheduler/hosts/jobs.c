/* Jobs of the daemon: see hosts_jobs.h. */
#include "scheduler/hosts/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "scheduler/hosts/program.h"

/* For a job without --time: what policies reckon with. It is not ended then. */
static const double supposed_limit = 3600;

static char **copy_list(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = strdup(list[i]);
    return copy;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static epop_policy_kind_t kind_named(const char *name)
{
    return !strcmp(name, "rigid")       ? EPOP_RIGID
           : !strcmp(name, "moldable")  ? EPOP_MOLDABLE
           : !strcmp(name, "malleable") ? EPOP_MALLEABLE
                                        : EPOP_EVOLVING;
}

static void free_job(struct hosts_job *job)
{
    struct event *timers[] = {job->measure, job->patience, job->resize.limit};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (timers[i])
            event_free(timers[i]);
    hosts_program_free(&job->program);
    free(job->name);
    free(job->cwd);
    free(job->output);
    free(job->directory);
    free_list(job->argv);
    free_list(job->environment);
    free(job->nodes);
    free(job->resize.nodes);
    free(job->resize.gone);
    free(job);
}

static void copy(struct hosts_job *job, const struct journal_job *from)
{
    job->number = from->number;
    job->name = strdup(from->name);
    job->cwd = strdup(from->cwd);
    job->argv = copy_list(from->argv);
    job->environment = copy_list(from->environment);
    job->ranks_min = from->ranks_min;
    job->ranks_max = from->ranks_max;
    job->nodes_min = from->nodes_min;
    job->nodes_max = from->nodes_max;
    job->wanted = from->wanted;
    job->limit = from->limit;
    job->once = from->once;
    job->kind = kind_named(from->kind);
    job->submitted = from->submitted;
    job->started = from->started;
}

/* Where none was named. */
static char *output_of(const struct hosts_job *job)
{
    char *path;
    return job->directory && asprintf(&path, "%s/output", job->directory) >= 0 ? path : NULL;
}

/* In the order of their numbers. */
static void add(struct hosts *hosts, struct hosts_job *job)
{
    struct hosts_job **at = &hosts->jobs;
    while (*at && (*at)->number < job->number)
        at = &(*at)->next;
    job->next = *at;
    *at = job;
}

struct hosts_job *hosts_jobs_add(struct hosts *hosts, const struct journal_job *from)
{
    struct hosts_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    copy(job, from);
    job->hosts = hosts;
    job->phase = -1;
    job->reserved = -1;
    job->pool = job->kind == EPOP_MALLEABLE && !hosts->joins && hosts->local;
    job->nodes = calloc((size_t)hosts->node_count, sizeof *job->nodes);
    job->resize.nodes = calloc((size_t)hosts->node_count, sizeof *job->resize.nodes);
    job->resize.gone = calloc((size_t)hosts->node_count, sizeof *job->resize.gone);
    if (asprintf(&job->directory, "%s/jobs/%lld", hosts->directory, (long long)job->number) < 0)
        job->directory = NULL;
    job->output = from->output && *from->output ? strdup(from->output) : output_of(job);
    if (!job->name || !job->cwd || !job->output || !job->argv || !job->environment || !job->nodes ||
        !job->resize.nodes || !job->resize.gone || !job->directory) {
        free_job(job);
        return NULL;
    }
    add(hosts, job);
    return job;
}

struct hosts_job *hosts_jobs_find(const struct hosts *hosts, int64_t number)
{
    struct hosts_job *job = hosts->jobs;
    while (job && job->number != number)
        job = job->next;
    return job;
}

void hosts_jobs_over(struct hosts_job *job)
{
    struct hosts_job **at = &job->hosts->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    hosts_timer_stop(job->measure);
    hosts_timer_stop(job->patience);
    hosts_timer_stop(job->resize.limit);
    attend_client_close(&job->attendant);
    job->next = job->hosts->over;
    job->hosts->over = job;
}

void hosts_jobs_sweep(struct hosts *hosts)
{
    while (hosts->over) {
        struct hosts_job *job = hosts->over;
        hosts->over = job->next;
        free_job(job);
    }
}

void hosts_jobs_free(struct hosts *hosts)
{
    while (hosts->jobs)
        hosts_jobs_over(hosts->jobs);
    hosts_jobs_sweep(hosts);
}

int hosts_jobs_ranks(const struct hosts_job *job, int nodes)
{
    int ranks = nodes * job->hosts->slots;
    return ranks < job->ranks_max ? ranks : job->ranks_max;
}

int hosts_jobs_nodes(const struct hosts *hosts, int ranks)
{
    return (ranks + hosts->slots - 1) / hosts->slots;
}

/* One that runs can be resized when it has said what it is; where it has refused, it is left alone for a while. */
static epop_policy_kind_t kind_now(const struct hosts_job *job)
{
    bool runs = job->state != JOB_WAITING, known = job->attached && job->program.known;
    bool quiet = monotonic_seconds() < job->quiet_until || job->resize.stuck || job->state == JOB_ENDING;
    return job->kind >= EPOP_MALLEABLE && runs && (!known || quiet) ? EPOP_MOLDABLE : job->kind;
}

static struct core_job describe(const struct hosts_job *job)
{
    struct core_job given = {.id = job->number, .name = job->name, .kind = kind_now(job), .wanted = job->wanted};
    given.limit = job->limit > 0 ? job->limit : supposed_limit;
    given.range = (epop_policy_range_t){.min = job->nodes_min, .max = job->nodes_max};
    if (job->program.known) {
        given.range = job->program.range;
        given.wanted = epop_policy_fit(&given.range, job->wanted);
        given.phases = job->program.phases;
        given.phase_count = job->program.phase_count;
    }
    if (given.wanted < 1)
        given.wanted = given.range.min;
    if (given.kind == EPOP_RIGID)
        given.range = (epop_policy_range_t){.min = given.wanted, .max = given.wanted};
    return given;
}

int hosts_jobs_submit(struct hosts_job *job, struct error *error)
{
    struct core_job given = describe(job);
    return core_submit(job->hosts->core, job->submitted, &given, error);
}

void hosts_jobs_learned(struct hosts_job *job)
{
    struct error error = {0};
    struct core_job given = describe(job);
    double now = hosts_now(job->hosts);
    hosts_must(job->hosts, core_learned(job->hosts->core, now, &given, &error), &error);
    if (job->phase >= 0)
        hosts_must(job->hosts, core_phase(job->hosts->core, now, job->number, job->phase, NULL, &error), &error);
}

void hosts_jobs_hold(struct hosts_job *job, const int *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        job->nodes[job->held++] = nodes[i];
        job->hosts->nodes[nodes[i]].job = job->number;
    }
}

static bool is_in(const int *nodes, int count, int node)
{
    for (int i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

void hosts_jobs_give(struct hosts_job *job, const int *nodes, int count)
{
    int kept = 0;
    for (int i = 0; i < job->held; i++) {
        if (is_in(nodes, count, job->nodes[i]))
            job->hosts->nodes[job->nodes[i]].job = -1;
        else
            job->nodes[kept++] = job->nodes[i];
    }
    job->held = kept;
}
