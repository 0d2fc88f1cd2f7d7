/* Jobs that begin when others have ended well. */
#include "scheduler/hosts/after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "after jobs 3, 5 and 7" */
static void set_reason(struct hosts_job *job)
{
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
    if (job->after_count)
        set_reason(job);
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
    job->reason[0] = '\0';
    if (left)
        set_reason(job);
    return left ? AFTER_WAITS : AFTER_READY;
}
