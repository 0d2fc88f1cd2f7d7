/*
 * Directories for files of a job, beside the address files. Whoever uses one holds a lock on a file in it, which goes
 * with the last process that has it: so what nobody holds is left over from a job that was killed, and may be removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/control/control_internal.h"

#define TRIES 1000 /* each after a millisecond */

/* So much of the token that no two jobs meet, and nothing of it that helps to guess the rest. */
static unsigned long long digest(const char *token)
{
    unsigned long long value = 0xcbf29ce484222325u; /* FNV-1a */

    for (; *token; token++)
        value = (value ^ (unsigned char)*token) * 0x100000001b3u;
    return value;
}

/* "work.HOST." begins the names on this host. The length. */
static size_t prefix(char *text, size_t size)
{
    char host[64] = "localhost";

    gethostname(host, sizeof host - 1);
    return (size_t)snprintf(text, size, "work.%s.", host);
}

/* The lock of the directory as it is now: a descriptor, or -1 with errno; EWOULDBLOCK: another has it, or has just
 * removed it. Where locks are not supported nobody gets the exclusive one. */
static int lock(const char *directory, int operation)
{
    char path[600];
    struct stat ours, present;

    snprintf(path, sizeof path, "%s/in-use", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    int error = flock(fd, operation | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && (fstat(fd, &ours) != 0 || stat(path, &present) != 0 || ours.st_ino != present.st_ino))
        error = EWOULDBLOCK;
    if (error == 0 || (operation == LOCK_SH && error != EWOULDBLOCK))
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int control_directory(const char *purpose, const char *token, char *path, size_t size, char *error, size_t error_size)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    char base[256], host[80];

    if (control_rundir(base, sizeof base, error, error_size) != 0)
        return -1;
    prefix(host, sizeof host);
    if (token[0])
        snprintf(path, size, "%s/%s%s.%016llx", base, host, purpose, digest(token));
    else
        snprintf(path, size, "%s/%s%s.%ld", base, host, purpose, (long)getpid());
    for (int i = 0; i < TRIES; i++) {
        if (control_rundir_make(path, error, error_size) != 0)
            return -1;
        int fd = lock(path, LOCK_SH);
        if (fd >= 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != ENOENT)
            break;
        nanosleep(&pause, NULL);
    }
    snprintf(error, error_size, "cannot use %s: %s", path, strerror(errno));
    return -1;
}

void control_directory_sweep(const char *base, const char *name)
{
    char start[80], path[600];
    size_t length = prefix(start, sizeof start);

    if (strncmp(name, start, length) != 0)
        return;
    snprintf(path, sizeof path, "%.255s/%.255s", base, name);
    int fd = lock(path, LOCK_EX);
    if (fd < 0)
        return;
    control_rundir_remove(path);
    close(fd);
}

void control_directories_sweep(void)
{
    char base[256], error[400];
    struct dirent *entry;

    DIR *entries = control_rundir(base, sizeof base, error, sizeof error) == 0 ? opendir(base) : NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        control_directory_sweep(base, entry->d_name);
    if (entries != NULL)
        closedir(entries);
}
