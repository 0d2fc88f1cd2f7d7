/* What runs beside a job: see beside.h. */
#include "runtime/job/beside.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/child.h"
#include "runtime/base/paths.h"
#include "runtime/base/thread.h"
#include "runtime/control/rundir.h"

#define ADDRESS_MAX 320

static pid_t attendant;

static bool read_address(const char *path, char address[ADDRESS_MAX])
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(address, ADDRESS_MAX, file);
    if (file)
        fclose(file);
    if (read)
        address[strcspn(address, "\n")] = '\0';
    return read && strchr(address, ':');
}

/* HOST:PORT; false: none is named. */
static bool find_address(char address[ADDRESS_MAX])
{
    const char *named = getenv("EPOP_ADVISER");
    char directory[256], path[300];
    struct error error;
    if (named && *named) {
        snprintf(address, ADDRESS_MAX, "%s", named);
        return strchr(address, ':');
    }
    if (control_rundir_jobs(directory, sizeof directory, &error))
        return false;
    snprintf(path, sizeof path, "%s/adviser", directory);
    return read_address(path, address) || read_address("/etc/epop/adviser", address);
}

void beside_attend(const char *address_file)
{
    char address[ADDRESS_MAX], helper[PATH_MAX];
    if (attendant || !*address_file || !slurm_job() || !find_address(address) ||
        helper_find("attend", helper, sizeof helper))
        return;
    char *argv[] = {helper, "link", address, (char *)address_file, NULL};
    struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = STDERR_FILENO};
    if (spawn_program(&what, &attendant))
        attendant = 0;
}

static void *wait_for_end(void *argument)
{
    waitpid((pid_t)(long)argument, NULL, 0);
    return NULL;
}

/* What is started here ends at once, and leaves another process: a program that waits for all its children would
 * wait for it. */
void beside_gateway(const char *address_file)
{
    char helper[PATH_MAX];
    pid_t pid;
    if (!*address_file || helper_find("pmix-gateway", helper, sizeof helper))
        return;
    char *argv[] = {helper, (char *)address_file, NULL};
    struct spawn what = {
        .argv = argv, .in = SPAWN_NOTHING, .out = SPAWN_NOTHING, .err = SPAWN_NOTHING, .session = true};
    if (!spawn_program(&what, &pid))
        thread_start(NULL, wait_for_end, (void *)(long)pid);
}

void beside_end(void)
{
    if (!attendant || kill(attendant, SIGKILL))
        return;
    while (waitpid(attendant, NULL, 0) < 0 && errno == EINTR)
        ;
    attendant = 0;
}
