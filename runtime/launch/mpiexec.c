/* The search for mpiexec, and launchers that are none. */
#include "runtime/launch/mpiexec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/engine.h"

/* What else helps a build that any MPI's library goes with. */
#ifdef EPOP_ABI
#define OTHER_LIBRARY ", or have LD_LIBRARY_PATH find the libmpi_abi.so.1 of their MPI"
#else
#define OTHER_LIBRARY ""
#endif

const char *mpiexec_name(void)
{
    const char *chosen = getenv("EPOP_MPIEXEC");
    return chosen && chosen[0] ? chosen : engine()->mpiexec;
}

/* As its variables say of a launcher: how many processes did it start? And is this the one that speaks? 0: none. */
static int started_by(const char *size, const char *rank, bool *speaks)
{
    const char *count = getenv(size), *number = getenv(rank);
    *speaks = !number || !atoi(number);
    return count ? atoi(count) : 0;
}

static void say_foreign(char *line, size_t size, const char *name, int count)
{
    snprintf(line, size, "%s started %d processes, which to %s are as many jobs of one rank; start them with '%s'%s",
             name, count, engine()->maker, mpiexec_name(), OTHER_LIBRARY);
}

bool mpiexec_is_foreign(char *line, size_t size, bool *speaks)
{
    int count;
    if (engine_started_this())
        return false;
    for (size_t i = 0; engine_number(i); i++)
        if ((count = started_by(engine_number(i)->size, engine_number(i)->rank, speaks)) > 1) {
            say_foreign(line, size, engine_number(i)->name, count);
            return true;
        }
    /* An MPICH may speak PMIx, too. */
    if (getenv("PMIX_RANK") || (count = started_by("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", speaks)) < 2)
        return false;
    say_foreign(line, size, "srun, without PMI,", count);
    return true;
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
