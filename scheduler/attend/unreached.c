/* What mpiexec could not reach: see unreached.h. */
#include "scheduler/attend/unreached.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/procstat.h"
#include "runtime/hydra/hydra.h"

struct failure {
    char name[64];
    int status;
};

static bool is_mpiexec(void *context, long pid, const struct procstat *stat)
{
    (void)context, (void)pid;
    return !strncmp(stat->name, "mpiexec", 7);
}

static bool reaches_nobody(void *context, long pid, const struct procstat *stat)
{
    struct failure *failure = context;
    return is_mpiexec(NULL, pid, stat) &&
           hydra_failed((pid_t)pid, failure->name, sizeof failure->name, &failure->status);
}

bool unreached_mpiexec(pid_t above)
{
    return procstat_child(above, is_mpiexec, NULL);
}

bool unreached_seen(pid_t above, char *text, size_t size)
{
    struct failure failure;
    bool seen = procstat_child(above, reaches_nobody, &failure);
    if (seen)
        snprintf(text, size, "mpiexec cannot start processes on other hosts: its '%s' ended with status %d",
                 failure.name, failure.status);
    return seen;
}
