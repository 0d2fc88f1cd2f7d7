/* Commands: see hosts_table.h. */
#include "scheduler/hosts/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/hosts/decide.h"
#include "scheduler/hosts/end.h"
#include "scheduler/hosts/free.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/submit.h"
#include "scheduler/hosts/tell.h"

static int submit(void *context, const struct submission *submission, int64_t *number, struct error *error)
{
    return hosts_submit(context, submission, number, error);
}

static int cancel(void *context, int64_t number, bool *unknown, struct error *error)
{
    struct hosts_job *job = hosts_jobs_find(context, number);
    *unknown = !job;
    if (!job)
        return error_set(error, ERROR_FAILED, "there is no job %lld that waits or runs", (long long)number);
    hosts_end_ask(job, "cancelled", "cancelled by its user");
    return 0;
}

static int drain(void *context, const char *name, bool undo, bool *unknown, struct error *error)
{
    struct hosts *hosts = context;
    struct hosts_node *node = hosts_node_named(hosts, name);
    const char *state = undo ? "up" : "drain", *reason = undo ? "" : "drained by its user";
    *unknown = !node;
    if (!node)
        return error_set(error, ERROR_FAILED, "there is no node '%.100s'", name);
    if (node->drained == !undo)
        return 0;
    node->drained = !undo;
    node->since = hosts_now(hosts);
    if (node->up) {
        snprintf(node->reason, sizeof node->reason, "%s", reason);
        hosts_must(hosts, journal_node_state(hosts->journal, name, state, reason, node->since, error), error);
    }
    hosts_tell(hosts, 0, "node", undo ? "%s takes jobs again" : "%s is drained: it takes no jobs", name);
    hosts_free_show(hosts, (int)(node - hosts->nodes));
    return 0;
}

static int stop(void *context, enum daemon_stop how, struct error *error)
{
    struct hosts *hosts = context;
    int count = 0;
    for (struct hosts_job *job = hosts->jobs; job; job = job->next)
        count++;
    if (count && how == DAEMON_STOP_IDLE)
        return error_set(
            error, ERROR_REFUSED,
            "%d job%s or run%s; --jobs cancels %s, --leave lets %s run, and the next start takes them over", count,
            count == 1 ? " waits" : "s wait", count == 1 ? "s" : "", count == 1 ? "it" : "them",
            count == 1 ? "it" : "them");
    hosts->stopping = true;
    for (struct hosts_job *job = hosts->jobs, *next; how == DAEMON_STOP_JOBS && job; job = next) {
        next = job->next;
        hosts_end_ask(job, "cancelled", "epoprm was stopped");
    }
    hosts->leaving = how == DAEMON_STOP_LEAVE;
    hosts_news(hosts);
    return 0;
}

/* ---- Looking ---------------------------------------------------------------------------------- */

static const char *kind_text(epop_policy_kind_t kind)
{
    static const char *const texts[] = {[EPOP_RIGID] = "rigid",
                                        [EPOP_MOLDABLE] = "moldable",
                                        [EPOP_MALLEABLE] = "malleable",
                                        [EPOP_EVOLVING] = "evolving"};
    return texts[kind];
}

static void jobs(void *context, void (*each)(void *to, const struct daemon_job *job), void *to)
{
    struct hosts *hosts = context;
    core_state(hosts->core, hosts_now(hosts));
    for (struct hosts_job *job = hosts->jobs; job; job = job->next) {
        const epop_policy_job_t *known = core_job(hosts->core, job->number);
        char *names = hosts_names(hosts, job->nodes, job->held);
        struct daemon_job view = {.number = job->number, .name = job->name, .kind = kind_text(job->kind)};
        view.state = hosts_state_text(job->state);
        view.reason = job->reason;
        view.ranks_min = job->ranks_min;
        view.ranks_max = job->ranks_max;
        view.nodes_min = job->nodes_min;
        view.nodes_max = job->nodes_max;
        view.nodes = job->size;
        view.target = job->resize.id ? job->resize.to : job->size;
        view.ranks = job->size ? hosts_jobs_ranks(job, job->size) : 0;
        view.hosts = names ? names : "";
        view.submitted = job->submitted;
        view.started = job->state == JOB_WAITING ? -1 : job->started;
        view.limit = job->limit > 0 ? job->limit : -1;
        view.left = known && job->state != JOB_WAITING ? known->left : -1;
        view.reserved = job->state == JOB_WAITING ? job->reserved : -1;
        each(to, &view);
        free(names);
    }
}

static void nodes(void *context, void (*each)(void *to, const struct daemon_node *node), void *to)
{
    struct hosts *hosts = context;
    for (int i = 0; i < hosts->node_count; i++) {
        const struct hosts_node *node = &hosts->nodes[i];
        struct daemon_node view = {.name = node->name, .host = node->host, .reason = node->reason};
        view.state = !node->up ? "down" : node->drained ? "drain" : node->job >= 0 ? "busy" : "idle";
        view.slots = node->slots;
        view.job = node->job;
        view.since = node->since;
        each(to, &view);
    }
}

const struct daemon_table hosts_table = {submit, cancel, drain, stop, jobs, nodes};
