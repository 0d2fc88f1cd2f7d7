/* A regular file is written beside its place and then put there: see write.h. */
#include "scheduler/epopsim/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_text(FILE *file, const char *text)
{
    errno = 0;
    if (fputs(text, file) >= 0 && fputc('\n', file) >= 0 && fflush(file) == 0)
        return 0;
    return errno ? errno : EIO;
}

static int write_open(FILE *file, const char *text)
{
    if (!file)
        return errno;
    int failed = write_text(file, text);
    if (fclose(file) != 0 && !failed)
        failed = errno;
    return failed;
}

static int write_beside(const char *path, const char *text)
{
    char *beside;
    if (asprintf(&beside, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return ENOMEM;
    int failed = write_open(fopen(beside, "wex"), text);
    if (!failed && rename(beside, path) != 0)
        failed = errno;
    if (failed)
        unlink(beside);
    free(beside);
    return failed;
}

/* A symbolic link stays one: what it points to is replaced. */
static int write_target(const char *path, const char *text)
{
    char *target = realpath(path, NULL);
    int failed = write_beside(target ? target : path, text);
    free(target);
    return failed;
}

static int write_path(const char *path, const char *text)
{
    struct stat status;
    if (!strcmp(path, "-"))
        return write_text(stdout, text);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return write_open(fopen(path, "we"), text);
    return write_target(path, text);
}

int write_json(const char *path, cJSON *json, struct error *error)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return error_memory(error);
    int failed = write_path(path, text);
    free(text);
    return failed ? error_set(error, ERROR_FAILED, "%s: cannot be written: %s",
                              strcmp(path, "-") ? path : "the standard output", strerror(failed))
                  : 0;
}
