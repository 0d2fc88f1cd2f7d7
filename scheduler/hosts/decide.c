/* Deciding: see hosts_decide.h. */
#include "scheduler/hosts/decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/hosts/check.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/start.h"
#include "scheduler/hosts/tell.h"

static const double longest = 3600, complaint = 10; /* seconds */

static void ring(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    hosts_news(hosts);
}

/* Told when it is another one than before. */
static void promise(struct hosts_job *job, const struct decision *decision)
{
    if (job->reserved >= 0 && fabs(job->reserved - decision->time) < 5)
        return;
    job->reserved = decision->time;
    hosts_tell_event(job->hosts, (struct journal_event){.job = job->number,
                                                        .kind = "decision",
                                                        .text = decision->reason,
                                                        .to = decision->to,
                                                        .at = decision->time});
}

static void carry_out(struct hosts *hosts, const struct decision *decision)
{
    struct hosts_job *job = hosts_jobs_find(hosts, decision->job);
    if (!job)
        return;
    snprintf(job->reason, sizeof job->reason, "%s", decision->reason);
    switch (decision->kind) {
    case DECISION_START:
        hosts_start(job, decision);
        break;
    case DECISION_RESIZE:
        hosts_resize_begin(job, decision);
        break;
    case DECISION_RESERVE:
        promise(job, decision);
        break;
    }
}

static void set_wake(struct hosts *hosts, double seconds)
{
    hosts_timer(hosts, &hosts->wake, ring, hosts, fmin(longest, fmax(0.01, seconds)));
}

/* A plan that makes no sense is the policy's fault: jobs run on, and it is asked again later. */
static void ask(struct hosts *hosts)
{
    struct error error = {0};
    struct decisions decisions;
    double now = hosts_now(hosts);
    if (core_decide(hosts->core, now, &hosts->policy, &decisions, &error)) {
        hosts_tell(hosts, 0, "daemon", "%.900s", error.text);
        set_wake(hosts, complaint);
        return;
    }
    set_wake(hosts, decisions.wake - now);
    for (int i = 0; i < decisions.count && !hosts->error.code; i++)
        carry_out(hosts, &decisions.items[i]);
}

static void vacate(struct hosts *hosts, int node)
{
    struct error error = {0};
    struct decision decision;
    char why[HOSTS_REASON_MAX];
    struct hosts_job *job = hosts_jobs_find(hosts, hosts->nodes[node].job);
    if (!job || job->state != JOB_RUNNING || job->pool || job->nodes[0] == node)
        return; /* rank 0's node stays: its process hosts the job's control */
    snprintf(why, sizeof why, "node %s is drained", hosts->nodes[node].name);
    if (core_vacate(hosts->core, hosts_now(hosts), node, why, &decision, &error))
        return;
    snprintf(job->reason, sizeof job->reason, "%s", why);
    hosts_resize_begin(job, &decision);
}

void hosts_decide_vacate(struct hosts *hosts)
{
    for (int node = 0; node < hosts->node_count; node++)
        if (hosts->nodes[node].drained && hosts->nodes[node].job >= 0)
            vacate(hosts, node);
}

void hosts_decide(struct hosts *hosts)
{
    hosts_jobs_sweep(hosts);
    if (!hosts->news || hosts->error.code || hosts->stopping || hosts_check_begins(hosts))
        return;
    hosts->news = false;
    hosts_decide_vacate(hosts);
    ask(hosts);
}
