/* Starts of jobs: see hosts_start.h. */
#include "scheduler/hosts/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/hosts/end.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/talk.h"
#include "scheduler/hosts/tell.h"

static void hold(struct hosts_job *job, const int *nodes, int count, double now)
{
    struct error error = {0};
    for (int i = 0; i < count; i++)
        hosts_must(job->hosts,
                   journal_hold(job->hosts->journal, job->hosts->nodes[nodes[i]].name, job->number, i, now, &error),
                   &error);
    hosts_jobs_hold(job, nodes, count);
    job->size = count;
    job->used = 0;
    job->used_at = now;
}

static void tell(struct hosts_job *job, const char *reason, const char *names)
{
    hosts_tell_event(job->hosts, (struct journal_event){.job = job->number,
                                                        .kind = "decision",
                                                        .text = reason,
                                                        .state = "starting",
                                                        .to = job->size,
                                                        .nodes = names,
                                                        .at = -1});
}

static void write_start(struct hosts_job *job, const struct decision *decision)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    double now = hosts_now(hosts);
    hosts_must(hosts, journal_begin(hosts->journal, &error), &error);
    hold(job, decision->nodes, decision->count, now);
    char *names = hosts_names(hosts, job->nodes, job->held);
    job->state = JOB_STARTING;
    job->started = now;
    hosts_must(hosts, journal_job_state(hosts->journal, job->number, "starting", decision->reason, &error), &error);
    hosts_must(hosts, journal_job_started(hosts->journal, job->number, now, &error), &error);
    hosts_must(
        hosts,
        journal_stay(hosts->journal, job->number, now, names ? names : "", hosts_jobs_ranks(job, job->size), &error),
        &error);
    tell(job, decision->reason, names);
    hosts_must(hosts, journal_commit(hosts->journal, &error), &error);
    free(names);
}

void hosts_start(struct hosts_job *job, const struct decision *decision)
{
    write_start(job, decision);
    hosts_stop_at("starting");
    if (job->hosts->error.code)
        return;
    hosts_jobs_learned(job);
    hosts_start_attendant(job);
}

void hosts_start_attendant(struct hosts_job *job)
{
    struct error error = {0};
    if (hosts_launch_write(job, &error) || hosts_launch_start(job, &error)) {
        hosts_end(job, NULL, error.text);
        return;
    }
    hosts_stop_at("started");
    hosts_talk_begin(job);
}
