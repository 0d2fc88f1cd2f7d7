/* A balance of a job: asked for, answered, and what came of it. */
#include "scheduler/hosts/balance.h"

#include <math.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/core/balance.h"

/* Seconds: the job itself gives up sooner. */
static const double answer_limit = 600;

static void be_refused(struct hosts_job *job)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    hosts_must(hosts, core_refused(hosts->core, hosts_now(hosts), job->number, &error), &error);
    hosts_news(hosts);
}

void hosts_balance_begin(struct hosts_job *job, const struct decision *decision)
{
    cJSON *request;
    if (!job->attached || job->state != JOB_RUNNING) {
        be_refused(job);
        return;
    }
    request = json_message("balance");
    cJSON_AddTrueToObject(request, "wait");
    job->balance.stall = 0;
    job->balance.id = hosts_id(job->hosts);
    hosts_tell(job->hosts, job->number, "running", "%s", decision->reason);
    attend_client_ask(&job->attendant, job->balance.id, request, answer_limit);
}

void hosts_balance_event(struct hosts_job *job, const cJSON *what)
{
    const char *event = json_text(what, "event");
    if (job->balance.id && event && !strcmp(event, "committed") && json_true(what, "balance"))
        job->balance.stall = fmax(0, json_number(what, "stall", 0));
}

static void be_done(struct hosts_job *job)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    hosts_must(hosts, core_balanced(hosts->core, hosts_now(hosts), job->number, job->balance.stall, &error), &error);
    job->samples = 0;
    hosts_news(hosts);
}

void hosts_balance_answer(struct hosts_job *job, const cJSON *answer)
{
    const char *reason = json_text(answer, "reason");
    attend_client_forget(&job->attendant, job->balance.id);
    job->balance.id = 0;
    if (json_true(answer, "ok")) {
        be_done(job);
        return;
    }
    hosts_tell(job->hosts, job->number, "running", "it is not balanced: %.900s",
               reason ? reason : "the job gave no reason");
    be_refused(job);
}

void hosts_balance_lose(struct hosts_job *job)
{
    if (!job->balance.id)
        return;
    job->balance.id = 0;
    be_refused(job);
}

bool hosts_balance_sampled(struct hosts_job *job)
{
    struct core *core = job->hosts->core;
    double from, to;
    bool due, uneven = core_uneven(core, job->number, &due);
    if (core_outcome(core, job->number, &from, &to))
        hosts_tell(job->hosts, job->number, "running", BALANCE_OUTCOME, from, to);
    if (due)
        hosts_news(job->hosts);
    return !uneven;
}

void hosts_balance_status(struct hosts_job *job, const cJSON *status)
{
    bool balances = json_true(status, "balances");
    if (balances == job->balances)
        return;
    job->balances = balances;
    hosts_jobs_learned(job);
}
