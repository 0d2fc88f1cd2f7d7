/* Taking up: see hosts_recover.h. */
#include "scheduler/hosts/recover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/hosts/end.h"
#include "scheduler/hosts/free.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/submit.h"
#include "scheduler/hosts/talk.h"
#include "scheduler/hosts/tell.h"

/* The first that went wrong is said; the journal's readers have no way to stop. */
struct taking {
    struct hosts *hosts;
    struct error *error;
    int failed;
    double submitted; /* when the job before was */
};

static void fail(struct taking *taking, const char *what, const char *which)
{
    if (!taking->failed)
        taking->failed = error_set(taking->error, ERROR_REFUSED,
                                   "the journal has %s %.100s, which these hosts do not have; start it with the hosts "
                                   "that it had, or stop --jobs there first",
                                   what, which);
}

/* ---- Nodes -------------------------------------------------------------------------------------- */

/* How it was left. Whether its host is there is seen anew. */
static void take_node(void *to, const struct journal_node *from)
{
    struct taking *taking = to;
    struct hosts_node *node = hosts_node_named(taking->hosts, from->name);
    if (!node)
        return;
    node->drained = !strcmp(from->state, "drain");
    node->since = from->since;
    snprintf(node->reason, sizeof node->reason, "%s", from->reason);
}

static int put_nodes(struct hosts *hosts, struct error *error)
{
    for (int i = 0; i < hosts->node_count; i++) {
        struct hosts_node *node = &hosts->nodes[i];
        if (!(node->since > 0))
            node->since = hosts_now(hosts);
        if (!node->drained)
            node->reason[0] = '\0';
        struct journal_node put = {.number = i,
                                   .name = node->name,
                                   .host = node->host,
                                   .slots = node->slots,
                                   .state = node->drained ? "drain" : "up",
                                   .reason = node->reason,
                                   .since = node->since};
        if (journal_node_put(hosts->journal, &put, error))
            return -1;
    }
    return 0;
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

static enum hosts_state state_named(const char *name)
{
    for (enum hosts_state state = JOB_WAITING; state < JOB_ENDING; state++)
        if (!strcmp(name, hosts_state_text(state)))
            return state;
    return JOB_ENDING;
}

/* A clock that was set back meanwhile must not keep the daemon from starting: the order is that of the numbers. */
static struct journal_job in_order(struct taking *taking, const struct journal_job *from)
{
    struct journal_job job = *from;
    job.submitted = fmin(fmax(job.submitted, taking->submitted), hosts_now(taking->hosts));
    taking->submitted = job.submitted;
    return job;
}

static void take_job(void *to, const struct journal_job *given)
{
    struct taking *taking = to;
    if (taking->failed)
        return;
    const struct journal_job now = in_order(taking, given), *from = &now;
    struct hosts_job *job = hosts_submit_known(taking->hosts, from, taking->error);
    if (!job) {
        taking->failed =
            error_set(taking->error, ERROR_REFUSED,
                      "%.900s; start it with the hosts that it had, and cancel the job there", taking->error->text);
        return;
    }
    job->state = state_named(from->state);
    job->wanted = from->wanted;
    snprintf(job->state == JOB_ENDING ? job->why : job->reason, HOSTS_REASON_MAX, "%s", from->reason);
    if (job->state == JOB_ENDING)
        job->outcome = !strncmp(from->reason, "time limit", 10) ? "failed" : "cancelled";
}

static void check_holding(void *to, const struct journal_holding *holding)
{
    struct taking *taking = to;
    if (!hosts_node_named(taking->hosts, holding->node))
        fail(taking, "a job on node", holding->node);
}

static void take_holding(void *to, const struct journal_holding *holding)
{
    struct taking *taking = to;
    struct hosts_node *node = hosts_node_named(taking->hosts, holding->node);
    struct hosts_job *job = hosts_jobs_find(taking->hosts, holding->job);
    int number = node ? (int)(node - taking->hosts->nodes) : -1;
    if (!node || !job)
        return;
    hosts_jobs_hold(job, &number, 1);
    job->size = job->held;
}

static int count_names(const char *names)
{
    int count = *names ? 1 : 0;
    for (; *names; names++)
        count += *names == ',';
    return count;
}

/* What of the time limit was used, and at which size it is. */
static void take_stay(void *to, const struct journal_stay *stay)
{
    struct taking *taking = to;
    struct hosts_job *job = hosts_jobs_find(taking->hosts, stay->job);
    int nodes = count_names(stay->nodes);
    if (!job || job->state == JOB_WAITING)
        return;
    job->used_at = stay->begin;
    if (stay->end >= 0) {
        job->used += (stay->end - stay->begin) * nodes / job->wanted;
        job->used_at = stay->end;
    } else {
        job->size = nodes < job->held ? nodes : job->held;
    }
}

/* ---- Resizes ------------------------------------------------------------------------------------- */

static void take_names(const struct hosts *hosts, const char *names, struct hosts_resize *resize)
{
    char *copy = strdup(names), *rest = copy, *name;
    while (copy && *copy && (name = strsep(&rest, ",")))
        for (int i = 0; i < hosts->node_count && resize->count < hosts->node_count; i++)
            if (!strcmp(hosts->nodes[i].name, name))
                resize->nodes[resize->count++] = i;
    free(copy);
}

static void take_resize(void *to, const struct journal_resize *from)
{
    struct taking *taking = to;
    struct hosts_job *job = hosts_jobs_find(taking->hosts, from->job);
    if (!job)
        return;
    job->resize.id = from->id;
    job->resize.step = from->step;
    job->resize.from = from->from;
    job->resize.to = from->to;
    job->resize.decided = from->times[JOURNAL_DECIDED];
    job->resize.committed = from->times[JOURNAL_COMMITTED];
    job->resize.count = 0;
    take_names(taking->hosts, from->nodes, &job->resize);
}

/* A shrink that has committed: what it gives back stands last, as it did. */
static void order(struct hosts_job *job)
{
    struct hosts_resize *resize = &job->resize;
    if (resize->id && resize->step >= JOURNAL_COMMITTED && resize->to < resize->from) {
        int list[resize->count ? resize->count : 1];
        memcpy(list, resize->nodes, (size_t)resize->count * sizeof *list);
        hosts_jobs_give(job, list, resize->count);
        hosts_jobs_hold(job, list, resize->count);
    }
}

static int adopt(struct hosts_job *job, struct error *error)
{
    const struct hosts_resize *resize = &job->resize;
    struct core_place place = {.started = job->started, .nodes = job->size, .target = job->size, .list = job->nodes};
    if (resize->id) {
        place.nodes = resize->from;
        place.target = resize->to;
    }
    double now = hosts_now(job->hosts);
    int most = place.nodes > place.target ? place.nodes : place.target;
    if (place.started > now)
        place.started = now;
    if (most != job->held)
        return error_set(error, ERROR_FAILED, "the journal says that job %lld has %d nodes, and holds %d",
                         (long long)job->number, most, job->held);
    if (core_adopt(job->hosts->core, now, job->number, &place, error))
        return -1;
    hosts_jobs_learned(job);
    return 0;
}

static int adopt_all(struct hosts *hosts, struct error *error)
{
    for (struct hosts_job *job = hosts->jobs; job; job = job->next) {
        if (job->state == JOB_WAITING)
            continue;
        order(job);
        if (adopt(job, error))
            return -1;
    }
    for (int i = 0; i < hosts->node_count; i++)
        if (hosts->nodes[i].job < 0)
            hosts_free_show(hosts, i);
    return 0;
}

int hosts_recover(struct hosts *hosts, struct error *error)
{
    struct taking taking = {hosts, error, 0, 0};
    if (journal_holdings(hosts->journal, check_holding, &taking, error) || taking.failed ||
        journal_nodes(hosts->journal, take_node, &taking, error) ||
        journal_jobs(hosts->journal, false, take_job, &taking, error) || taking.failed ||
        journal_holdings(hosts->journal, take_holding, &taking, error) ||
        journal_stays(hosts->journal, take_stay, &taking, error) ||
        journal_resizes(hosts->journal, false, take_resize, &taking, error) || put_nodes(hosts, error))
        return -1;
    return adopt_all(hosts, error);
}

/* It may run already, so that nothing is given back when this fails: others look for its attendant, and start one. */
static void start_again(struct hosts_job *job)
{
    struct error error = {0};
    if (hosts_launch_write(job, &error) || hosts_launch_start(job, &error))
        hosts_tell(job->hosts, job->number, "failed", "%.900s", error.text);
    hosts_stop_at("started");
    hosts_talk_begin(job);
}

void hosts_recover_go_on(struct hosts *hosts)
{
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        cJSON *ended = job->state == JOB_WAITING ? NULL : hosts_launch_ended(job);
        if (ended)
            hosts_end(job, ended, NULL);
        else if (job->state == JOB_STARTING)
            start_again(job);
        else if (job->state != JOB_WAITING)
            hosts_talk_begin(job);
        cJSON_Delete(ended);
    }
    hosts_news(hosts);
}
