/* What mpiexec could not reach: see unreached.h. */
#include "scheduler/attend/unreached.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/procstat.h"
#include "runtime/hydra/hydra.h"

bool unreached_seen(pid_t above, char *text, size_t size)
{
    char path[64], name[64];
    struct procstat stat;
    bool seen = false;
    long child;
    int status;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)above, (long)above);
    FILE *file = fopen(path, "re");
    while (file && !seen && fscanf(file, "%ld", &child) == 1)
        seen = !procstat_read(child, &stat) && !strncmp(stat.name, "mpiexec", 7) &&
               hydra_failed((pid_t)child, name, sizeof name, &status);
    if (file)
        fclose(file);
    if (seen)
        snprintf(text, size, "mpiexec cannot start processes on other hosts: its '%s' ended with status %d", name,
                 status);
    return seen;
}
