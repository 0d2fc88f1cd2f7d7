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

/* The new file stands beside the old one until it is whole. */
static int open_beside(const char *path, char name[PATH_MAX])
{
    if (snprintf(name, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkstemp(name);
    mode_t mask = umask(0);
    umask(mask);
    if (file >= 0)
        fchmod(file, 0666 & ~mask);
    return file;
}

int output_check(const char *path, struct error *error)
{
    char real[PATH_MAX], name[PATH_MAX];
    struct stat status;
    path = target_of_link(path, real);
    if (!path[0])
        return cannot_be_written("''", "it has no name", error);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot_be_written(path, strerror(EISDIR), error);
    if (is_special(path))
        return access(path, W_OK) ? cannot_be_written(path, strerror(errno), error) : 0;
    int file = open_beside(path, name);
    if (file < 0)
        return cannot_be_written(path, strerror(errno), error);
    close(file);
    unlink(name);
    return 0;
}

static bool put_line(FILE *stream, const char *text)
{
    bool done = fputs(text, stream) >= 0 && fputc('\n', stream) == '\n' && fflush(stream) == 0;
    int why = errno;
    if (fclose(stream))
        return false;
    errno = why;
    return done;
}

int output_write(const char *path, const char *text, struct error *error)
{
    char real[PATH_MAX], name[PATH_MAX] = "";
    path = target_of_link(path, real);
    bool special = is_special(path);
    int file = special ? -1 : open_beside(path, name);
    FILE *stream = special ? fopen(path, "w") : file < 0 ? NULL : fdopen(file, "w");
    if (!stream)
        return cannot_be_written(path, strerror(errno), error);
    if (put_line(stream, text) && (special || rename(name, path) == 0))
        return 0;
    cannot_be_written(path, strerror(errno), error);
    if (name[0])
        unlink(name);
    return -1;
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
