/*
 * What PMIx finds around it. A job may have been started by a PMIx launcher (srun --mpi=pmix), whose variables would
 * make our server or tool take itself for a client of that one; and PMIx reports lost connections, which are daily
 * business here, on the program's stderr.
 */
#include "runtime/control/environment.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/control/control.h"

extern char **environ;

static int nowhere = -1;

/* PMIX_MCA_* are settings of the user's own, and stay. */
static bool belongs_to_launcher(const char *entry)
{
    return !strncmp(entry, "PMIX_", 5) && strncmp(entry, "PMIX_MCA_", 9);
}

static void forget_launcher(void)
{
    char name[128];
    for (char **entry = environ; entry && *entry;) {
        size_t length = strcspn(*entry, "=");
        if (belongs_to_launcher(*entry) && length < sizeof name) {
            memcpy(name, *entry, length);
            name[length] = '\0';
            unsetenv(name); /* shifts the rest down */
        } else {
            entry++;
        }
    }
}

static void prepare(void)
{
    char fd[16];
    forget_launcher();
    setenv("PMIX_MCA_pmix_event_caching_window", "0", 0); /* else a loss is told a second late, or later */
    if (getenv("EPOP_CONTROL_VERBOSE") || (nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
        return;
    snprintf(fd, sizeof fd, "%d", nowhere);
    setenv("PMIX_OUTPUT_STDERR_FD", fd, 1);
}

void control_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

void control_environment_restore(void)
{
    unsetenv("PMIX_OUTPUT_STDERR_FD");
}

void control_leave_nothing(void)
{
    if (nowhere >= 0)
        close(nowhere);
    nowhere = -1;
}
