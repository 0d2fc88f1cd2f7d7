/* How a job ended: see ended.h. */
#include "scheduler/attend/ended.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/base/clock.h"
#include "scheduler/attend/file.h"

#define REASON_MAX 1024
enum { NOT_FOUND = 127, NOT_STARTED = 126 }; /* as a shell says it */

/* Numbers below 0: null. */
static cJSON *ended(int status, int signal, const char *reason)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddItemToObject(json, "status", status < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(status));
    cJSON_AddItemToObject(json, "signal", signal < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(signal));
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    return json;
}

static cJSON *not_begun(const struct guard_message *message, const struct launch *launch)
{
    char text[REASON_MAX];
    const char *why = strerror(message->number);
    if (message->stage == STAGE_OUTPUT && message->number == ENXIO)
        why = "nobody reads this FIFO";
    if (message->stage == STAGE_DIRECTORY)
        snprintf(text, sizeof text, "cannot change to the directory %.800s: %s", launch->cwd, why);
    else if (message->stage == STAGE_OUTPUT)
        snprintf(text, sizeof text, "cannot open the output file %.800s: %s", launch->output, why);
    else
        snprintf(text, sizeof text, "cannot start '%.800s': %s", launch->argv[0], why);
    bool missing = message->stage == STAGE_COMMAND && message->number == ENOENT;
    return ended(missing ? NOT_FOUND : NOT_STARTED, -1, text);
}

cJSON *ended_of(const struct guard_message *message, const struct launch *launch)
{
    char text[REASON_MAX];
    int status = message->number;
    if (message->word == GUARD_NOT)
        return not_begun(message, launch);
    if (message->left > 0)
        snprintf(text, sizeof text, "%d of its processes could not be ended, not by SIGKILL either", message->left);
    return ended(WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : -1,
                 message->left > 0 ? text : NULL);
}

cJSON *ended_failed(const char *reason)
{
    return ended(NOT_STARTED, -1, reason);
}

cJSON *ended_lost(void)
{
    cJSON *json = ended(-1, -1, "its attendant was killed: what was left of the job was ended");
    cJSON_AddTrueToObject(json, "lost");
    return json;
}

static const char *path_of(const char *directory, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/ended.json", directory);
    return path;
}

cJSON *ended_read(const char *directory)
{
    char path[PATH_MAX];
    return file_read_json(path_of(directory, path));
}

int ended_write(const char *directory, const cJSON *json, struct error *error)
{
    char path[PATH_MAX];
    return file_write_json(path_of(directory, path), json, error);
}

void ended_write_lost(const char *directory)
{
    struct error error;
    cJSON *there = ended_read(directory), *lost = there ? NULL : ended_lost();
    if (lost)
        ended_write(directory, lost, &error);
    cJSON_Delete(there);
    cJSON_Delete(lost);
}
