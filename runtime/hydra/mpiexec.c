/* The search for mpiexec, and launchers that are none. */
#include "runtime/hydra/mpiexec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef EPOP_MPIEXEC
#define EPOP_MPIEXEC "mpiexec.mpich"
#endif

const char *mpiexec_name(void)
{
    const char *chosen = getenv("EPOP_MPIEXEC");
    return chosen && chosen[0] ? chosen : EPOP_MPIEXEC;
}

bool mpiexec_is_foreign(char *line, size_t size, bool *speaks)
{
    static const struct {
        const char *size, *rank, *name; /* variables of a process, and whose they are */
        bool may_speak_pmix;            /* to an MPICH that does, too */
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "the launcher of Open MPI", false},
                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun, without PMI,", true}};
    if (getenv("PMI_FD") || getenv("PMI_PORT") || getenv("PMI_RANK"))
        return false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *count = getenv(launchers[i].size), *rank = getenv(launchers[i].rank);
        if (!count || atoi(count) < 2 || (launchers[i].may_speak_pmix && getenv("PMIX_RANK")))
            continue;
        snprintf(line, size,
                 "%s started %d processes, which to MPICH are as many jobs of one rank; start them with '%s'",
                 launchers[i].name, atoi(count), mpiexec_name());
        *speaks = !rank || !atoi(rank);
        return true;
    }
    return false;
}

/* A folder can be "executed", too. */
static int take(const char *candidate, char path[PATH_MAX])
{
    struct stat status;
    if (!stat(candidate, &status) && S_ISREG(status.st_mode) && !access(candidate, X_OK) && realpath(candidate, path))
        return 0;
    path[0] = 0;
    return -1;
}

/* An empty item is the present directory. */
static int take_from(const char *folder, size_t length, const char *name, char path[PATH_MAX])
{
    char candidate[PATH_MAX];
    int used = length ? snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, folder, name)
                      : snprintf(candidate, sizeof candidate, "./%s", name);
    return used < (int)sizeof candidate ? take(candidate, path) : -1;
}

int mpiexec_find(char path[PATH_MAX])
{
    const char *name = mpiexec_name(), *folders = getenv("PATH");
    path[0] = 0;
    if (strchr(name, '/'))
        return take(name, path);
    for (const char *folder = folders ? folders : "/usr/bin:/bin";; folder++) {
        size_t length = strcspn(folder, ":");
        if (!take_from(folder, length, name, path))
            return 0;
        folder += length;
        if (!*folder)
            return -1;
    }
}
