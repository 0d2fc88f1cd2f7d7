/* A job comes: what it says of itself is checked here, so that nobody behind has to. See core.h. */
#include "scheduler/core/submit.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/core/state.h"
#include "scheduler/core/text.h"

static int check_range(int64_t id, const char *of, const epop_policy_range_t *range, struct error *error)
{
    int last = 0;
    if (range->count < 0 || (range->count > 0 && !range->sizes) || range->min < 1 || range->max < range->min)
        return error_set(error, ERROR_FAILED, "job %lld: %s: from %d to %d nodes", (long long)id, of, range->min,
                         range->max);
    for (int i = 0; i < range->count; i++) {
        if (range->sizes[i] <= last || range->sizes[i] < range->min || range->sizes[i] > range->max)
            return error_set(error, ERROR_FAILED, "job %lld: %s: size %d in a list from %d to %d that ascends",
                             (long long)id, of, range->sizes[i], range->min, range->max);
        last = range->sizes[i];
    }
    return 0;
}

static int check_sizes(const struct core *core, const struct core_job *job, struct error *error)
{
    char text[RANGE_TEXT_MAX];
    long long id = (long long)job->id;
    if (job->wanted < 1 || job->wanted > core->nodes.count)
        return error_set(error, ERROR_FAILED, "job %lld: it wants %d nodes, and the machine has %d", id, job->wanted,
                         core->nodes.count);
    if (!epop_policy_accepts(&job->range, job->wanted))
        return error_set(error, ERROR_FAILED, "job %lld: it wants %d nodes, but accepts %s", id, job->wanted,
                         range_text(&job->range, text));
    if (job->kind == EPOP_RIGID && job->range.min != job->range.max)
        return error_set(error, ERROR_FAILED, "job %lld: it is rigid, but accepts %s nodes", id,
                         range_text(&job->range, text));
    return 0;
}

static int check_phases(const struct core_job *job, struct error *error)
{
    if (job->phase_count < 0 || (job->phase_count > 0 && !job->phases))
        return error_set(error, ERROR_FAILED, "job %lld: %d phases", (long long)job->id, job->phase_count);
    for (int i = 0; i < job->phase_count; i++) {
        char of[40];
        snprintf(of, sizeof of, "phase %d", i);
        if (check_range(job->id, of, &job->phases[i].range, error))
            return -1;
    }
    return 0;
}

int submit_check(const struct core *core, const struct core_job *job, struct error *error)
{
    long long id = (long long)job->id;
    if ((unsigned)job->kind > EPOP_EVOLVING)
        return error_set(error, ERROR_FAILED, "job %lld: it is of no known kind (%d)", id, (int)job->kind);
    if (check_range(job->id, "its range", &job->range, error) || check_sizes(core, job, error))
        return -1;
    if (!(isfinite(job->limit) && job->limit > 0))
        return error_set(error, ERROR_FAILED, "job %lld: a limit of %g s", id, job->limit);
    if (!(isfinite(job->bytes) && job->bytes >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a resize moves %g bytes", id, job->bytes);
    return check_phases(job, error);
}

static int check(const struct core *core, const struct core_job *job, struct error *error)
{
    if (jobs_find(&core->jobs, job->id))
        return error_set(error, ERROR_FAILED, "job %lld: there is one of that number", (long long)job->id);
    return submit_check(core, job, error);
}

int core_submit(struct core *core, double now, const struct core_job *given, struct error *error)
{
    struct job *job;
    if (state_check_time(core, now, error) || check(core, given, error))
        return -1;
    job = job_create(given, now);
    if (!job || queue_reserve(&core->waiting, 1) || jobs_add(&core->jobs, job)) {
        job_free(job);
        return error_memory(error);
    }
    queue_add(&core->waiting, job);
    core->now = now;
    return 0;
}
