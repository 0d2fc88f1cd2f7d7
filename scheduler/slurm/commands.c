/* epoprm's commands beside Slurm: see commands.h. */
#include "scheduler/slurm/commands.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/slurm/holding.h"
#include "scheduler/slurm/state.h"
#include "scheduler/slurm/words.h"

static int submit(void *context, const struct submission *submission, int64_t *number, struct error *error)
{
    (void)context, (void)submission, (void)number;
    return error_set(error, ERROR_REFUSED,
                     "Slurm starts the jobs here: sbatch --comment epop:min=1,max=4, and epop inside");
}

static int cancel(void *context, int64_t job, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && !view_job(adviser->view, job);
    if (*unknown)
        return error_set(error, ERROR_REFUSED, "Slurm has no job %lld", (long long)job);
    return error_set(error, ERROR_REFUSED, "jobs are Slurm's here: scancel %lld", (long long)job);
}

static int drain(void *context, const char *node, bool undo, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && view_node(adviser->view, node) < 0;
    if (*unknown)
        return error_set(error, ERROR_REFUSED, "Slurm has no node %s", node);
    return error_set(error, ERROR_REFUSED, "nodes are Slurm's here: scontrol update NodeName=%s State=%s", node,
                     undo ? "RESUME" : "DRAIN Reason=...");
}

/* Jobs run on in any case. */
static int stop(void *context, enum daemon_stop how, struct error *error)
{
    struct adviser *adviser = context;
    (void)error;
    if (how == DAEMON_STOP_JOBS)
        return error_set(error, ERROR_REFUSED, "jobs are Slurm's here, and run on: stop without --jobs");
    adviser_over(adviser);
    return 0;
}

/* Names of jobs are their users' words. */
static char *plain(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return copy;
}

static char *names(const struct slurm_view *view, const struct holding *holding)
{
    size_t length = 1;
    for (int i = 0; i < holding->count; i++)
        length += strlen(view->nodes[holding->nodes[i]].name) + 1;
    char *text = calloc(length, 1);
    for (int i = 0; text && i < holding->count; i++) {
        strcat(text, i ? "," : "");
        strcat(text, view->nodes[holding->nodes[i]].name);
    }
    return text;
}

static const char *state_of(const struct slurm_job *job, const struct advised *advised)
{
    if (job->state == SLURM_JOB_WAITS)
        return "waiting";
    if (job->state == SLURM_JOB_ENDS)
        return "ending";
    return advised && advised_is_busy(advised) ? "adapting" : "running";
}

static const char *reason_of(const struct slurm_job *job, const struct advised *advised, bool malleable)
{
    if (job->state == SLURM_JOB_WAITS)
        return job->reason;
    if (advised && *advised->reason)
        return advised->reason;
    return malleable && !(advised && advised->peer) ? "not connected" : "";
}

static void tell_job(const struct adviser *adviser, const struct slurm_job *job,
                     void (*each)(void *to, const struct daemon_job *job), void *to)
{
    struct holding holding;
    if (holding_of(&holding, adviser->view, job, &adviser->table))
        return;
    const struct advised *advised = advised_find(&adviser->table, job->id);
    char *name = plain(job->name), *hosts = names(adviser->view, &holding);
    int slots = advised && advised->told.slots ? advised->told.slots : 1;
    int min = holding.max ? holding.min : job->nodes, max = holding.max ? holding.max : job->nodes;
    bool resizes = advised && (advised->ask.kind == ASK_GROW || advised->ask.kind == ASK_SHRINK);
    double promised = advised_promise(&adviser->table, job->id);
    struct daemon_job told = {
        .number = job->id,
        .name = name ? name : "",
        .kind = holding.max ? "malleable" : "rigid",
        .state = state_of(job, advised),
        .reason = reason_of(job, advised, holding.max > 0),
        .nodes_min = min,
        .nodes_max = max,
        .ranks_min = min * slots,
        .ranks_max = max * slots,
        .nodes = job->state == SLURM_JOB_WAITS ? 0
                 : resizes                     ? advised->ask.from
                                               : holding.count,
        .target = job->state == SLURM_JOB_WAITS ? 0
                  : resizes                     ? advised->ask.to
                                                : holding.count,
        .ranks = advised ? advised->told.ranks : 0,
        .hosts = hosts ? hosts : "",
        .submitted = job->submitted,
        .started = job->started,
        .limit = isfinite(job->limit) ? job->limit : -1,
        .left = advised ? advised->told.left : -1,
        .reserved = promised > 0 ? promised : -1,
    };
    each(to, &told);
    free(name);
    free(hosts);
    holding_free(&holding);
}

static int by_number(const void *one, const void *other)
{
    const struct slurm_job *a = *(const struct slurm_job *const *)one, *b = *(const struct slurm_job *const *)other;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void jobs(void *context, void (*each)(void *to, const struct daemon_job *job), void *to)
{
    const struct adviser *adviser = context;
    size_t count = adviser->view ? adviser->view->job_count : 0, shown = 0;
    const struct slurm_job **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return;
    for (size_t i = 0; i < count; i++)
        if (!holding_is_companion(adviser->view, &adviser->view->jobs[i]))
            sorted[shown++] = &adviser->view->jobs[i];
    qsort(sorted, shown, sizeof *sorted, by_number);
    for (size_t i = 0; i < shown; i++)
        tell_job(adviser, sorted[i], each, to);
    free(sorted);
}

/* The job that has the node by itself or by a companion; -1: none. */
static int64_t job_on(const struct slurm_view *view, const char *node)
{
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_job *job = &view->jobs[i];
        for (int k = 0; job->state != SLURM_JOB_WAITS && k < job->hosts.count; k++)
            if (!strcmp(job->hosts.names[k], node))
                return holding_is_companion(view, job) ? words_companion(job->name) : job->id;
    }
    return -1;
}

static void nodes(void *context, void (*each)(void *to, const struct daemon_node *node), void *to)
{
    static const char *const words[] = {
        [SLURM_NODE_IDLE] = "idle", [SLURM_NODE_BUSY] = "busy", [SLURM_NODE_DOWN] = "down"};
    const struct adviser *adviser = context;
    for (size_t i = 0; adviser->view && i < adviser->view->node_count; i++) {
        const struct slurm_node *node = &adviser->view->nodes[i];
        struct daemon_node told = {.name = node->name,
                                   .host = node->name,
                                   .state = words[node->state],
                                   .reason = node->planned ? "Slurm keeps it for a job that waits" : "",
                                   .slots = node->cpus,
                                   .job = job_on(adviser->view, node->name),
                                   .since = -1};
        each(to, &told);
    }
}

const struct daemon_table commands_table = {submit, cancel, drain, stop, jobs, nodes};
