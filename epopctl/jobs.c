/* Which job a command means: see jobs.h. */
#include "epopctl/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"
#include "epopctl/reach.h"
#include "runtime/base/batch.h"

/* Every job whose id begins so, in one line. */
static void complain_of_many(const char *name, const struct control_job *jobs, int count)
{
    char text[1024] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof text - 160; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", jobs[i].id);
    if (!name)
        ctl_complain("which job?%s", text);
    else
        ctl_complain("\"%s\" may be any of%s", name, text);
}

/* ---- Which one is meant ------------------------------------------------------------------- */

static bool is_named(const struct control_job *job, const char *name)
{
    return !strcmp(job->id, name) || !strcmp(job->batch, name);
}

static bool begins_so(const struct control_job *job, const char *name)
{
    return !strncmp(job->id, name, strlen(name));
}

static bool is_ours(const struct control_job *job, const char *name)
{
    (void)name;
    return batch_job() && !strcmp(job->batch, batch_job());
}

/* A file of another host may be that of a job which was killed there; it is not ours to remove. */
static bool is_reachable(const struct control_job *job, const char *name)
{
    (void)name;
    return job->here || ctl_listens(job);
}

/* Keeps those that are so, if there are any. How many there are then. */
static int keep(struct control_job *jobs, int count, bool (*are)(const struct control_job *, const char *),
                const char *name)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        kept += are(&jobs[i], name);
    if (!kept)
        return count;
    kept = 0;
    for (int i = 0; i < count; i++)
        if (are(&jobs[i], name))
            jobs[kept++] = jobs[i];
    return kept;
}

static int matching(struct control_job *jobs, int count, const char *name)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!name || is_named(&jobs[i], name) || begins_so(&jobs[i], name))
            jobs[kept++] = jobs[i];
    if (kept > 1 && name)
        kept = keep(jobs, kept, is_named, name); /* the whole name, though others may begin with it */
    if (kept > 1 && !name)
        kept = keep(jobs, kept, is_ours, name);
    return kept > 1 ? keep(jobs, kept, is_reachable, name) : kept;
}

int ctl_job_select(const char *name, struct control_job *job)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), matches = matching(jobs, count, name), code = CTL_DONE;
    if (matches == 1) {
        *job = jobs[0];
    } else if (matches > 1) {
        complain_of_many(name, jobs, matches);
        code = CTL_USAGE;
    } else {
        if (!name)
            ctl_complain("no job is running (of this user, on this host)");
        else
            ctl_complain("there is no job \"%s\" (see epopctl list)", name);
        code = CTL_NO_JOB;
    }
    free(jobs);
    return code;
}
