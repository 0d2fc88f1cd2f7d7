/* A regular file is written beside its place and then put there; a device or a pipe is written to as it is. */
#include "report/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_to(FILE *file, const char *text)
{
    errno = 0;
    if (fputs(text, file) >= 0 && fflush(file) == 0)
        return 0;
    return errno ? errno : EIO;
}

static int write_open(FILE *file, const char *text)
{
    if (file == NULL)
        return errno;
    int failed = write_to(file, text);
    if (fclose(file) != 0 && !failed)
        failed = errno;
    return failed;
}

/* As permissions are for files that programs make. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int write_beside(const char *path, const char *text)
{
    char *beside;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return ENOMEM;
    int fd = mkstemp(beside);
    int failed = fd < 0 ? errno : 0;
    if (!failed) {
        failed = fchmod(fd, usual_mode()) == 0 ? 0 : errno;
        int unwritten = write_open(fdopen(fd, "w"), text);
        failed = failed ? failed : unwritten;
        if (!failed && rename(beside, path) != 0)
            failed = errno;
        if (failed)
            unlink(beside);
    }
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

int output_write(const char *path, const char *text)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return write_to(stdout, text);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return write_open(fopen(path, "we"), text);
    return write_target(path, text);
}

int output_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}
