/* Which job a command means: see jobs.h. */
#include "epopctl/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epopctl/command.h"
#include "epopctl/output.h"

/* Every job whose id begins so, in one line. */
static void complain_of_many(const char *name, const struct control_job *jobs, int count)
{
    char text[1024] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof text - 160; i++)
        if (!name || !strncmp(jobs[i].id, name, strlen(name)))
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", jobs[i].id);
    if (!name)
        ctl_complain("which job?%s", text);
    else
        ctl_complain("\"%s\" may be any of%s", name, text);
}

int ctl_job_select(const char *name, struct control_job *job)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs), matches = 0, code = CTL_DONE;
    for (int i = 0; i < count; i++) {
        if (name && strncmp(jobs[i].id, name, strlen(name)))
            continue;
        *job = jobs[i];
        matches++;
        if (name && !strcmp(jobs[i].id, name)) {
            matches = 1; /* the whole name, though others may begin with it */
            break;
        }
    }
    if (matches > 1) {
        complain_of_many(name, jobs, count);
        code = CTL_USAGE;
    } else if (matches == 0) {
        if (!name)
            ctl_complain("no job is running (of this user, on this host)");
        else
            ctl_complain("there is no job \"%s\" (see epopctl list)", name);
        code = CTL_NO_JOB;
    }
    free(jobs);
    return code;
}
