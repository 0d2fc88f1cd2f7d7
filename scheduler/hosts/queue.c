/* Who may be in the queue, and at which place. */
#include "scheduler/hosts/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/hosts/accounts.h"
#include "scheduler/journal/history.h"

/* ---- Jobs that come after others ---------------------------------------------------------------- */

/* *outcome: "done", "failed", "cancelled"; "": it has not ended; NULL: there is none. The caller's to free. -1: the
 * journal does not say. */
static int read_outcome(const struct hosts *hosts, int64_t number, char **outcome, struct error *error)
{
    if (!hosts_jobs_find(hosts, number))
        return journal_job_state(hosts->journal, number, outcome, error);
    *outcome = strdup("");
    return *outcome ? 0 : error_memory(error);
}

static bool is_well(const char *outcome)
{
    return outcome && (!*outcome || !strcmp(outcome, "done"));
}

int hosts_after_check(const struct hosts *hosts, const int64_t *after, struct error *error)
{
    int failed = 0;
    for (; after && *after && !failed; after++) {
        char *outcome;
        failed = read_outcome(hosts, *after, &outcome, error);
        if (!failed && !outcome)
            failed =
                error_set(error, ERROR_REFUSED, "there is no job %lld that it could come after", (long long)*after);
        else if (!failed && !is_well(outcome))
            failed = error_set(error, ERROR_REFUSED, "it cannot come after job %lld, which is %s", (long long)*after,
                               outcome);
        free(outcome);
    }
    return failed;
}

/* Of one that is not in the queue: "held by its user", "after jobs 3, 5 and 7". */
static void show_reason(struct hosts_job *job)
{
    snprintf(job->reason, sizeof job->reason, "%s", job->on_hold ? "held by its user" : "");
    if (job->on_hold || !job->after_count)
        return;
    size_t used = (size_t)snprintf(job->reason, sizeof job->reason, "after job%s", job->after_count == 1 ? "" : "s");
    for (int i = 0; i < job->after_count && used < sizeof job->reason; i++)
        used += (size_t)snprintf(job->reason + used, sizeof job->reason - used, "%s %lld",
                                 i == 0                      ? ""
                                 : i == job->after_count - 1 ? " and"
                                                             : ",",
                                 (long long)job->after[i]);
}

struct reading {
    struct hosts_job *job;
    bool failed; /* no memory */
};

static void take_one(void *to, int64_t number)
{
    struct reading *reading = to;
    struct hosts_job *job = reading->job;
    int64_t *longer = realloc(job->after, ((size_t)job->after_count + 1) * sizeof *longer);
    reading->failed |= !longer;
    if (!longer)
        return;
    job->after = longer;
    job->after[job->after_count++] = number;
}

int hosts_after_read(struct hosts_job *job, struct error *error)
{
    struct reading reading = {.job = job};
    if (journal_afters(job->hosts->journal, job->number, take_one, &reading, error))
        return -1;
    show_reason(job);
    return reading.failed ? error_memory(error) : 0;
}

/* Of one that has ended, or not. -1: a line says why it never comes. */
static int look_at(const struct hosts_job *job, int64_t number, bool *waits, char why[HOSTS_REASON_MAX])
{
    struct error error;
    char *outcome;
    *waits = true; /* where the journal cannot be read now, too */
    if (read_outcome(job->hosts, number, &outcome, &error))
        return 0;
    bool well = is_well(outcome);
    snprintf(why, HOSTS_REASON_MAX, "job %lld, which it was to come after, is %s", (long long)number,
             outcome ? outcome : "not known");
    *waits = well && !*outcome;
    free(outcome);
    return well ? 0 : -1;
}

enum after hosts_after_look(struct hosts_job *job, char why[HOSTS_REASON_MAX])
{
    int left = 0, count = job->after_count;
    for (int i = 0; i < count; i++) {
        int64_t number = job->after[i];
        bool waits;
        if (look_at(job, number, &waits, why))
            return AFTER_NEVER;
        if (waits)
            job->after[left++] = number;
    }
    job->after_count = left;
    if (left == count)
        return AFTER_WAITS;
    show_reason(job);
    return left ? AFTER_WAITS : AFTER_READY;
}

/* ---- What earlier jobs of its program have shown ------------------------------------------------ */

/* Its program and arguments, as all jobs here are this user's. */
static struct history_key history_key(const struct hosts_job *job, char **program)
{
    *program = history_program(job->cwd, (const char *const *)job->argv);
    return (struct history_key){(int)getuid(), *program};
}

static void tell_earlier(struct hosts_job *job, const struct history *history)
{
    struct error unheard;
    for (size_t i = 0; i < history->count; i++) {
        epop_policy_sample_t sample = history->samples[i].sample;
        int ranks = sample.nodes;
        sample.nodes = hosts_jobs_nodes(job->hosts, ranks);
        if (hosts_jobs_ranks(job, sample.nodes) == ranks)
            core_remembered(job->hosts->core, job->number, history_last(history), &sample, &unheard);
    }
}

/* Of one that does not run yet. Where that fails the job is begun with what its user said, as without a history. */
static void recall_history(struct hosts_job *job)
{
    char *program;
    struct history_key key = history_key(job, &program);
    struct history history;
    struct error unheard;
    if (program && job->kind != EPOP_RIGID &&
        !history_read(job->hosts->journal, &key, hosts_now(job->hosts), &history, &unheard)) {
        tell_earlier(job, &history);
        history_free(&history);
    }
    free(program);
}

void hosts_keep_history(struct hosts_job *job)
{
    const epop_policy_job_t *known = core_job(job->hosts->core, job->number);
    int count = known ? known->sample_count : 0;
    epop_policy_sample_t kept[count ? count : 1];
    struct error error = {0};
    char *program;
    struct history_key key = history_key(job, &program);
    for (int i = 0; i < count; i++) {
        kept[i] = known->samples[i];
        kept[i].nodes = hosts_jobs_ranks(job, kept[i].nodes);
    }
    if (program)
        hosts_must(job->hosts,
                   history_write(job->hosts->journal, &key, job->number, hosts_now(job->hosts), kept, count, &error),
                   &error);
    free(program);
}

int hosts_enter_queue(struct hosts_job *job, double when, struct error *error)
{
    if (hosts_jobs_submit(job, when, error))
        return -1;
    recall_history(job);
    return 0;
}

/* ---- Holding, and priorities -------------------------------------------------------------------- */

bool hosts_may_queue(const struct hosts_job *job)
{
    return !job->on_hold && !job->after_count;
}

int hosts_queueing_read(struct hosts_job *job, struct error *error)
{
    struct journal_queueing queueing;
    if (journal_queueing_get(job->hosts->journal, job->number, &queueing, error))
        return -1;
    job->priority = queueing.priority;
    job->on_hold = queueing.held;
    job->leaves = queueing.leaves;
    job->saved = (char *)queueing.saved;
    if (job->saved && !*job->saved) {
        free(job->saved);
        job->saved = NULL;
    }
    show_reason(job);
    return queueing.saved ? 0 : error_memory(error);
}

/* It is void when the job is held, or has started meanwhile. */
static void take_promise(void *to, const struct journal_event *event)
{
    struct hosts_job *job = to;
    if (event->at >= 0)
        job->reserved = event->at;
    else if (event->state || !strcmp(event->kind, "held"))
        job->reserved = -1;
}

int hosts_promise_read(struct hosts_job *job, struct error *error)
{
    return journal_events(job->hosts->journal, job->number, 0, take_promise, job, error);
}

void hosts_queueing_keep(const struct hosts_job *job, const char *kind, const char *text)
{
    const struct journal_queueing queueing = {
        .job = job->number,
        .priority = job->priority,
        .held = job->on_hold,
        .leaves = job->leaves,
        .saved = job->saved ? job->saved : "",
    };
    struct error error = {0};
    hosts_must(job->hosts, journal_queueing_set(job->hosts->journal, &queueing, &error), &error);
    if (kind)
        hosts_tell(job->hosts, job->number, kind, "%s", text);
}

int hosts_hold(struct hosts_job *job, struct error *error)
{
    struct hosts *hosts = job->hosts;
    if (job->state != JOB_WAITING)
        return error_set(error, ERROR_REFUSED, "job %lld has started: only one that waits is held",
                         (long long)job->number);
    if (job->on_hold)
        return 0;
    if (hosts_may_queue(job))
        hosts_must(hosts, core_ended(hosts->core, hosts_now(hosts), job->number, error), error);
    job->on_hold = true;
    job->reserved = -1;
    show_reason(job);
    hosts_queueing_keep(job, "held", job->reason);
    hosts_news(hosts);
    return 0;
}

int hosts_release(struct hosts_job *job, struct error *error)
{
    if (!job->on_hold)
        return 0;
    job->on_hold = false;
    if (hosts_may_queue(job) && hosts_enter_queue(job, hosts_now(job->hosts), error)) {
        job->on_hold = true;
        return -1;
    }
    show_reason(job);
    hosts_queueing_keep(job, "released", job->reason);
    hosts_news(job->hosts);
    return 0;
}

/* ---- What its user says of it ------------------------------------------------------------------- */

int hosts_deadline_check(double deadline, bool drop_late, double from, double limit, struct error *error)
{
    if (deadline > 0 && deadline <= from)
        return error_set(error, ERROR_REFUSED, "its deadline is over since %.0f s", from - deadline);
    if (deadline > 0 && drop_late && from + limit > deadline)
        return error_set(error, ERROR_REFUSED,
                         "no end is possible before its deadline, which is in %.0f s: it may take %.0f s",
                         deadline - from, limit);
    return 0;
}

static int check_change(const struct hosts_job *job, const struct daemon_change *change, struct error *error)
{
    bool waits = job->state == JOB_WAITING, drop_late = change->drop_late || job->drop_late;
    double now = hosts_now(job->hosts);
    if (change->account && !waits)
        return error_set(error, ERROR_REFUSED, "job %lld has started: only of one that waits the account is changed",
                         (long long)job->number);
    return change->deadline ? hosts_deadline_check(*change->deadline, drop_late, now, waits ? job->limit : 0, error)
                            : 0;
}

static void change_priority(struct hosts_job *job, int priority)
{
    struct error error = {0};
    char text[80];
    if (core_job(job->hosts->core, job->number))
        hosts_must(job->hosts, core_priority(job->hosts->core, job->number, priority, &error), &error);
    snprintf(text, sizeof text, "%d (it was %d)", priority, job->priority);
    job->priority = priority;
    hosts_queueing_keep(job, "priority", text);
}

/* Its own from now on: `account`. */
static void change_account(struct hosts_job *job, char *account)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    if (core_job(hosts->core, job->number))
        hosts_must(hosts, core_account(hosts->core, job->number, account, &error), &error);
    hosts_must(hosts, journal_job_set_account(hosts->journal, job->number, account, &error), &error);
    hosts_tell(hosts, job->number, "changed", "its account is %s (it was %s)", account, accounts_of(job->account));
    free(job->account);
    job->account = account;
}

static void change_deadline(struct hosts_job *job, double deadline, bool drop_late)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    job->deadline = deadline;
    job->drop_late = deadline > 0 && (drop_late || job->drop_late);
    hosts_jobs_deadline(job);
    hosts_must(hosts, journal_job_set_deadline(hosts->journal, job->number, deadline, job->drop_late, &error), &error);
    if (deadline > 0)
        hosts_tell(hosts, job->number, "changed", "its deadline is in %.0f s%s", deadline - hosts_now(hosts),
                   job->drop_late ? ", and it is given up when it is late" : "");
    else
        hosts_tell(hosts, job->number, "changed", "it has no deadline");
}

int hosts_change(struct hosts_job *job, const struct daemon_change *change, struct error *error)
{
    char *account = change->account ? strdup(change->account) : NULL;
    if ((change->account && !account) || check_change(job, change, error)) {
        free(account);
        return change->account && !account ? error_memory(error) : -1;
    }
    if (change->priority)
        change_priority(job, *change->priority);
    if (account)
        change_account(job, account);
    if (change->deadline)
        change_deadline(job, *change->deadline, change->drop_late);
    hosts_news(job->hosts);
    return 0;
}
