/* Writing a file whole: see output.h. */
#include "driver/output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, const char *why, char *error, size_t error_size)
{
    snprintf(error, error_size, "%.300s cannot be written: %s", path, why);
    return -1;
}

/* A symbolic link stays one: what it points to is replaced. */
static const char *target(const char *path, char real[PATH_MAX])
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

int output_check(const char *path, char *error, size_t error_size)
{
    char real[PATH_MAX], name[PATH_MAX];
    struct stat status;
    path = target(path, real);
    if (!path[0])
        return fail("''", "it has no name", error, error_size);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return fail(path, strerror(EISDIR), error, error_size);
    if (is_special(path))
        return access(path, W_OK) ? fail(path, strerror(errno), error, error_size) : 0;
    int file = open_beside(path, name);
    if (file < 0)
        return fail(path, strerror(errno), error, error_size);
    close(file);
    unlink(name);
    return 0;
}

static bool put(FILE *stream, const char *text)
{
    bool done = fputs(text, stream) >= 0 && fputc('\n', stream) == '\n' && fflush(stream) == 0;
    int why = errno;
    if (fclose(stream))
        return false;
    errno = why;
    return done;
}

int output_write(const char *path, const char *text, char *error, size_t error_size)
{
    char real[PATH_MAX], name[PATH_MAX] = "";
    path = target(path, real);
    bool special = is_special(path);
    int file = special ? -1 : open_beside(path, name);
    FILE *stream = special ? fopen(path, "w") : file < 0 ? NULL : fdopen(file, "w");
    if (!stream)
        return fail(path, strerror(errno), error, error_size);
    if (put(stream, text) && (special || rename(name, path) == 0))
        return 0;
    fail(path, strerror(errno), error, error_size);
    if (name[0])
        unlink(name);
    return -1;
}
