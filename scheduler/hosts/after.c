/* Jobs that begin when others have ended well. */
#include "scheduler/hosts/after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "done", "failed", "cancelled"; "": it has not ended; NULL: there is none. The caller's to free. */
static char *outcome_of(const struct hosts *hosts, int64_t number, struct error *error)
{
    char *state;
    if (hosts_jobs_find(hosts, number))
        return strdup("");
    return journal_job_state(hosts->journal, number, &state, error) ? NULL : state;
}

static bool is_well(const char *outcome)
{
    return outcome && (!*outcome || !strcmp(outcome, "done"));
}

int hosts_after_check(const struct hosts *hosts, const int64_t *after, struct error *error)
{
    for (; after && *after; after++) {
        char *outcome = outcome_of(hosts, *after, error);
        bool well = is_well(outcome);
        if (!outcome)
            error_set(error, ERROR_REFUSED, "there is no job %lld that it could come after", (long long)*after);
        else if (!well)
            error_set(error, ERROR_REFUSED, "it cannot come after job %lld, which is %s", (long long)*after, outcome);
        free(outcome);
        if (!well)
            return -1;
    }
    return 0;
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

static void take_one(void *to, int64_t number)
{
    struct hosts_job *job = to;
    int64_t *longer = realloc(job->after, ((size_t)job->after_count + 1) * sizeof *longer);
    if (!longer)
        return;
    job->after = longer;
    job->after[job->after_count++] = number;
}

int hosts_after_read(struct hosts_job *job, struct error *error)
{
    if (journal_afters(job->hosts->journal, job->number, take_one, job, error))
        return -1;
    if (job->after_count)
        set_reason(job);
    return 0;
}

enum after hosts_after_look(struct hosts_job *job, char why[HOSTS_REASON_MAX])
{
    struct error error = {0};
    int left = 0, count = job->after_count;
    for (int i = 0; i < count; i++) {
        char *outcome = outcome_of(job->hosts, job->after[i], &error);
        bool well = is_well(outcome);
        snprintf(why, HOSTS_REASON_MAX, "job %lld, which it was to come after, is %s", (long long)job->after[i],
                 outcome ? outcome : "not known");
        if (well && !*outcome)
            job->after[left++] = job->after[i];
        free(outcome);
        if (!well)
            return AFTER_NEVER;
    }
    job->after_count = left;
    if (left == count)
        return AFTER_WAITS;
    job->reason[0] = '\0';
    if (left)
        set_reason(job);
    return left ? AFTER_WAITS : AFTER_READY;
}
