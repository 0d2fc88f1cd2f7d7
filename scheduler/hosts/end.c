/* Ends of jobs: see hosts_end.h. */
#include "scheduler/hosts/end.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/hosts/free.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/measure.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/tell.h"

static const double grace = 10; /* seconds between being asked and being forced */

struct outcome {
    const char *state;
    int status;
    char why[HOSTS_REASON_MAX];
};

static int status_of(const cJSON *ended)
{
    int signal = json_int(ended, "signal", 0);
    return signal > 0 ? 128 + signal : json_int(ended, "status", -1);
}

static struct outcome judge(const struct hosts_job *job, const cJSON *ended, const char *why)
{
    struct outcome outcome = {.status = ended ? status_of(ended) : -1};
    const char *said = ended ? json_text(ended, "reason") : NULL;
    outcome.state = job->outcome ? job->outcome : outcome.status == 0 ? "done" : "failed";
    if (job->outcome)
        snprintf(outcome.why, sizeof outcome.why, "%s", job->why);
    else if (why || said)
        snprintf(outcome.why, sizeof outcome.why, "%.200s", why ? why : said);
    else if (json_int(ended, "signal", 0) > 0)
        snprintf(outcome.why, sizeof outcome.why, "ended by signal %d", json_int(ended, "signal", 0));
    else
        snprintf(outcome.why, sizeof outcome.why, "exit status %d", outcome.status);
    return outcome;
}

static void write_end(struct hosts_job *job, const struct outcome *outcome)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    double now = hosts_now(hosts);
    hosts_must(hosts, journal_begin(hosts->journal, &error), &error);
    hosts_resize_drop(job, "the job ended");
    hosts_free_journal(job, job->nodes, job->held);
    if (job->held)
        hosts_must(hosts, journal_stay_end(hosts->journal, job->number, now, &error), &error);
    hosts_must(
        hosts,
        journal_job_ended(hosts->journal, job->number, outcome->state, outcome->why, outcome->status, now, &error),
        &error);
    hosts_tell_event(hosts,
                     (struct journal_event){
                         .job = job->number, .kind = "ended", .text = outcome->why, .state = outcome->state, .at = -1});
    hosts_must(hosts, journal_commit(hosts->journal, &error), &error);
    hosts_stop_at("ended");
}

void hosts_end(struct hosts_job *job, const cJSON *ended, const char *why)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    struct outcome outcome = judge(job, ended, why);
    int count = job->held, nodes[count ? count : 1];
    memcpy(nodes, job->nodes, (size_t)count * sizeof *nodes);
    write_end(job, &outcome);
    hosts_must(hosts, core_ended(hosts->core, hosts_now(hosts), job->number, &error), &error);
    if (!strcmp(outcome.state, "failed"))
        hosts_free_suspect(hosts, nodes, count);
    hosts_free_done(job, nodes, count);
    hosts_news(hosts);
    hosts_jobs_over(job);
}

static void tell_attendant(struct hosts_job *job)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "id", (double)hosts_id(job->hosts));
    cJSON_AddStringToObject(message, "do", "end");
    cJSON_AddNumberToObject(message, "grace", grace);
    attend_client_say(&job->attendant, message);
}

void hosts_end_ask(struct hosts_job *job, const char *outcome, const char *why)
{
    if (outcome && !job->outcome) {
        job->outcome = outcome;
        snprintf(job->why, sizeof job->why, "%s", why);
    }
    if (job->state == JOB_WAITING) {
        hosts_end(job, NULL, NULL);
        return;
    }
    if (job->state != JOB_ENDING) {
        hosts_tell_state(job, JOB_ENDING, "ending", "%s", job->why);
        hosts_measure_stop(job);
        hosts_jobs_learned(job);
        hosts_stop_at("ending");
    }
    tell_attendant(job);
}

void hosts_end_late(struct hosts *hosts)
{
    double now = hosts_now(hosts);
    char why[HOSTS_REASON_MAX];
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        double used = job->used + (now - job->used_at) * job->size / job->wanted;
        if (job->state == JOB_WAITING || job->state == JOB_ENDING || !(job->limit > 0) || used < job->limit)
            continue;
        snprintf(why, sizeof why, "time limit: %.0f s at %d node%s, or as much on fewer for longer", job->limit,
                 job->wanted, job->wanted == 1 ? "" : "s");
        hosts_end_ask(job, "failed", why);
    }
}
