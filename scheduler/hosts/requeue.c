/* Jobs that are saved, end, and wait again. */
#include "scheduler/hosts/requeue.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/hosts/queue.h"

/* Seconds: for a checkpoint, and for which a job that could not be saved is left alone. */
static const double save_limit = 3600, quiet = 60;

/* ---- It is saved -------------------------------------------------------------------------------- */

static int check_state(const struct hosts_job *job, struct error *error)
{
    long long number = (long long)job->number;
    if (job->state == JOB_WAITING)
        return error_set(error, ERROR_REFUSED, "job %lld waits already", number);
    if (job->state == JOB_ENDING)
        return error_set(error, ERROR_REFUSED, "job %lld is ending", number);
    if (job->state != JOB_RUNNING)
        return error_set(error, ERROR_REFUSED, "job %lld is %s: try again when it runs", number,
                         hosts_state_text(job->state));
    if (job->balance.id)
        return error_set(error, ERROR_REFUSED, "job %lld is being balanced: try again when it runs", number);
    if (!job->attached)
        return error_set(error, ERROR_REFUSED, "job %lld cannot be saved: it is no EPOP program, or has just begun",
                         number);
    return 0;
}

int hosts_requeue(struct hosts_job *job, const char *why, struct error *error)
{
    if (job->leaves)
        return 0;
    if (check_state(job, error))
        return -1;
    job->leaves = true;
    snprintf(job->reason, sizeof job->reason, "%s", why);
    hosts_queueing_keep(job, "saving", why);
    hosts_jobs_learned(job); /* it is not resized any more */
    hosts_requeue_ask(job);
    return 0;
}

void hosts_requeue_ask(struct hosts_job *job)
{
    if (!job->leaves || !job->attached || job->state != JOB_RUNNING || job->asked_checkpoint)
        return;
    cJSON *request = json_message("checkpoint");
    cJSON_AddTrueToObject(request, "wait");
    job->asked_checkpoint = hosts_id(job->hosts);
    attend_client_ask(&job->attendant, job->asked_checkpoint, request, save_limit);
}

/* It runs on. */
static void stay(struct hosts_job *job, const char *why)
{
    char text[HOSTS_REASON_MAX];
    job->leaves = false;
    job->quiet_until = monotonic_seconds() + quiet;
    snprintf(text, sizeof text, "it is not saved, and runs on: %.180s", why);
    snprintf(job->reason, sizeof job->reason, "%s", text);
    hosts_queueing_keep(job, "failed", text);
    hosts_jobs_learned(job);
    hosts_news(job->hosts);
}

bool hosts_requeue_answer(struct hosts_job *job, int64_t id, const cJSON *answer)
{
    const char *path = json_text(cJSON_GetObjectItemCaseSensitive(answer, "checkpoint"), "path");
    const char *reason = json_text(answer, "reason");
    if (!id || id != job->asked_checkpoint)
        return false;
    attend_client_forget(&job->attendant, id);
    job->asked_checkpoint = 0;
    if (!job->leaves || job->state != JOB_RUNNING)
        return false;
    if (!path) {
        stay(job, reason ? reason : "it has no file");
        return false;
    }
    free(job->saved);
    job->saved = strdup(path);
    hosts_queueing_keep(job, "saved", path);
    hosts_stop_at("saved");
    return true;
}

void hosts_requeue_drop(struct hosts_job *job)
{
    if (!job->leaves)
        return;
    job->leaves = false;
    hosts_queueing_keep(job, NULL, NULL);
}

/* ---- It waits again ----------------------------------------------------------------------------- */

/* What an attendant has left of an earlier start would be taken for this one's. */
static void clear_directory(const struct hosts_job *job)
{
    static const char *const names[] = {"ended.json", "started", "socket"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", job->directory, names[i]);
        unlink(path);
    }
}

void hosts_requeue_write(struct hosts_job *job)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    job->leaves = false;
    clear_directory(job);
    hosts_must(hosts, journal_job_set_started(hosts->journal, job->number, -1, &error), &error);
    hosts_must(hosts, journal_move_set(hosts->journal, job->number, &(struct journal_move){0}, &error), &error);
    hosts_must(hosts, journal_job_set_state(hosts->journal, job->number, "waiting", job->why, &error), &error);
    hosts_queueing_keep(job, NULL, NULL);
    hosts_tell_event(
        hosts,
        (struct journal_event){.job = job->number, .kind = "requeued", .text = job->why, .state = "waiting", .at = -1});
}

/* As before its start. */
static void forget_start(struct hosts_job *job)
{
    attend_client_close(&job->attendant);
    memset(&job->attendant, 0, sizeof job->attendant);
    snprintf(job->reason, sizeof job->reason, "%s", job->on_hold ? "held by its user" : job->why);
    job->state = JOB_WAITING;
    job->outcome = NULL;
    job->started = job->reserved = -1;
    job->greeted = job->attached = false;
    job->size = job->moves_at = job->samples = job->refusals = job->loop = 0;
    job->phase = -1;
    job->asked_status = job->asked_measure = job->asked_checkpoint = 0;
    job->quiet_until = 0;
    job->balance.id = 0;
}

void hosts_requeue_put_back(struct hosts_job *job)
{
    struct core *core = job->hosts->core;
    struct error error = {0};
    double now = hosts_now(job->hosts);
    forget_start(job);
    if (job->on_hold) {
        hosts_must(job->hosts, core_ended(core, now, job->number, &error), &error);
        return;
    }
    hosts_must(job->hosts, core_requeued(core, now, job->number, &error), &error);
    hosts_jobs_learned(job);
}

/* ---- For the first of the queue ----------------------------------------------------------------- */

struct leaving {
    struct hosts_job *job;
    double started;
};

/* Who has least to say, and has run for least, comes first. */
static int by_priority(const void *one, const void *other)
{
    const struct leaving *a = one, *b = other;
    if (a->job->priority != b->job->priority)
        return a->job->priority < b->job->priority ? -1 : 1;
    return (a->started < b->started) - (a->started > b->started);
}

/* Those that can make room for it; the number of them. `*coming` is what comes from those that leave already. */
static int find_leaving(struct hosts *hosts, const epop_policy_job_t *first, struct leaving *list, int *coming)
{
    int count = 0;
    struct error error;
    for (struct hosts_job *job = hosts->jobs; job; job = job->next) {
        if (job->leaves || (job->state == JOB_ENDING && job->held))
            *coming += job->held;
        else if (job->priority < first->priority && monotonic_seconds() >= job->quiet_until &&
                 !check_state(job, &error))
            list[count++] = (struct leaving){job, job->started};
    }
    qsort(list, (size_t)count, sizeof *list, by_priority);
    return count;
}

/* As few as give that many nodes: of those that would do, the ones that matter most stay. How many leave; 0: they are
 * not enough. */
static int choose_leaving(struct leaving *list, int count, int lacking)
{
    int chosen = 0, kept = 0, sum = 0;
    while (chosen < count && sum < lacking)
        sum += list[chosen++].job->held;
    if (sum < lacking)
        return 0;
    for (int i = chosen - 1; i >= 0; i--)
        if (sum - list[i].job->held >= lacking) {
            sum -= list[i].job->held;
            list[i].job = NULL;
        }
    for (int i = 0; i < chosen; i++)
        if (list[i].job)
            list[kept++] = list[i];
    return kept;
}

static void make_room(struct hosts *hosts, const epop_policy_state_t *state)
{
    const epop_policy_job_t *first = state->waiting[0];
    int jobs = 1, coming = state->coming;
    for (const struct hosts_job *job = hosts->jobs; job; job = job->next)
        jobs++;
    struct leaving list[jobs];
    char why[HOSTS_REASON_MAX];
    int count = find_leaving(hosts, first, list, &coming), lacking = first->wanted - state->idle - coming;
    count = lacking > 0 ? choose_leaving(list, count, lacking) : 0;
    snprintf(why, sizeof why, "it makes room for job %lld, with priority %d", (long long)first->id, first->priority);
    for (int i = 0; i < count; i++) {
        struct error error;
        if (hosts_requeue(list[i].job, why, &error))
            hosts_tell(hosts, list[i].job->number, "failed", "%s", error.text);
    }
}

void hosts_requeue_for_the_first(struct hosts *hosts)
{
    double now = hosts_now(hosts), after = hosts->options->preempt_after;
    const epop_policy_state_t *state = after > 0 && !hosts->stopping ? core_state(hosts->core, now) : NULL;
    if (state && state->waiting_count && now - state->waiting[0]->submitted >= after)
        make_room(hosts, state);
}
