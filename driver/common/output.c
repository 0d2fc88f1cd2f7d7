/* Writes the file of a driver's result as a whole, and adds the job's recoveries to a result. */
#include "driver/common/output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "terminal/output.h"

static int cannot_be_written(const char *path, const char *why, struct error *error)
{
    return error_set(error, ERROR_FAILED, "%.300s cannot be written: %s", path, why);
}

/* A symbolic link stays one: what it points to is replaced. */
static const char *target_of_link(const char *path, char real[PATH_MAX])
{
    return realpath(path, real) ? real : path;
}

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

int output_check(const char *path, struct error *error)
{
    char real[PATH_MAX], name[PATH_MAX];
    struct stat status;
    if (!strcmp(path, "-"))
        return 0;
    path = target_of_link(path, real);
    if (!path[0])
        return cannot_be_written("''", "it has no name", error);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot_be_written(path, strerror(EISDIR), error);
    if (is_special(path))
        return access(path, W_OK) ? cannot_be_written(path, strerror(errno), error) : 0;
    int file = term_open_beside(path, name);
    if (file < 0)
        return cannot_be_written(path, strerror(errno), error);
    close(file);
    unlink(name);
    return 0;
}

int output_write(const char *path, const char *text, struct error *error)
{
    int failed = term_write(path, text, "\n");
    return failed ? cannot_be_written(path, strerror(failed), error) : 0;
}

/* ---- Recoveries --------------------------------------------------------------------------------- */

void output_add_recoveries(cJSON *object, const epop_job_t *job)
{
    cJSON *list = job->recovery_count ? cJSON_AddArrayToObject(object, "recoveries") : NULL;
    for (int i = 0; i < job->recovery_count; i++) {
        const epop_recovery_t *recovery = &job->recoveries[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "time", recovery->time);
        cJSON_AddStringToObject(json, "reason", recovery->reason);
        cJSON_AddStringToObject(json, "from", recovery->from);
        cJSON_AddNumberToObject(json, "number", recovery->number);
        cJSON_AddNumberToObject(json, "size", recovery->size);
        cJSON_AddNumberToObject(json, "iterations", (double)recovery->iterations);
        cJSON_AddNumberToObject(json, "lost", recovery->lost);
        cJSON_AddNumberToObject(json, "seconds", recovery->seconds);
        cJSON_AddItemToArray(list, json);
    }
}
