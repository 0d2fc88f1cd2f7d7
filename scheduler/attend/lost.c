/* Jobs whose attendant was killed: see lost.h. */
#include "scheduler/attend/lost.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/kin.h"
#include "runtime/control/rundir.h"
#include "runtime/hydra/leftovers.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/file.h"

static const double patience = 10; /* seconds: the guard has limits of its own, which are less */

static const char *path_of(const char *directory, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/started", directory);
    return path;
}

int lost_write_started(const char *directory, pid_t guard, struct error *error)
{
    char path[PATH_MAX], start[32];
    cJSON *json = cJSON_CreateObject();
    snprintf(start, sizeof start, "%llu", control_process_start(guard));
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddNumberToObject(json, "pid", guard);
    cJSON_AddStringToObject(json, "start_time", start);
    int failed = file_write_json(path_of(directory, path), json, error);
    cJSON_Delete(json);
    return failed;
}

bool lost_is_started(const char *directory)
{
    char path[PATH_MAX];
    return !access(path_of(directory, path), F_OK);
}

static bool is_there(long pid, unsigned long long start)
{
    return pid > 1 && start && control_process_start(pid) == start;
}

static void await_guard(long pid, unsigned long long start)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (double end = monotonic_seconds() + patience; is_there(pid, start) && monotonic_seconds() < end;)
        nanosleep(&pause, NULL);
    if (is_there(pid, start))
        kill((pid_t)pid, SIGKILL);
}

cJSON *lost_end(const char *directory, const char *mark)
{
    char path[PATH_MAX];
    cJSON *started = file_read_json(path_of(directory, path)), *ended;
    const char *start = json_text(started, "start_time");
    await_guard(json_int(started, "pid", 0), start ? strtoull(start, NULL, 10) : 0);
    cJSON_Delete(started);
    if (kin_end(-1, mark))
        leftovers_remove();
    ended = ended_read(directory);
    return ended ? ended : ended_lost();
}
