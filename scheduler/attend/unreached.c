/* What mpiexec could not reach: see unreached.h. */
#include "scheduler/attend/unreached.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/procstat.h"
#include "runtime/hydra/hydra.h"

static bool any(pid_t mpiexec, char *name, size_t size, int *status)
{
    (void)mpiexec, (void)name, (void)size, (void)status;
    return true;
}

static bool below(pid_t above, bool (*is)(pid_t mpiexec, char *name, size_t size, int *status), char *name, size_t size,
                  int *status)
{
    char path[64];
    struct procstat stat;
    bool seen = false;
    long child;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)above, (long)above);
    FILE *file = fopen(path, "re");
    while (file && !seen && fscanf(file, "%ld", &child) == 1)
        seen =
            !procstat_read(child, &stat) && !strncmp(stat.name, "mpiexec", 7) && is((pid_t)child, name, size, status);
    if (file)
        fclose(file);
    return seen;
}

bool unreached_mpiexec(pid_t above)
{
    return below(above, any, NULL, 0, NULL);
}

bool unreached_seen(pid_t above, char *text, size_t size)
{
    char name[64];
    int status;
    bool seen = below(above, hydra_failed, name, sizeof name, &status);
    if (seen)
        snprintf(text, size, "mpiexec cannot start processes on other hosts: its '%s' ended with status %d", name,
                 status);
    return seen;
}
