/*
 * Directories for files of a job, beside the address files. Whoever uses one holds a lock on a file in it, which goes
 * with the last process that has it: so what nobody holds is left over from a job that was killed, and may be removed.
 */
#include "runtime/control/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/host.h"
#include "runtime/control/control.h"
#include "runtime/control/rundir.h"

#define TRIES 1000 /* each after a millisecond */

/* So much of the token that no two jobs meet, and nothing of it that helps to guess the rest. */
static unsigned long long digest(const char *token)
{
    return hash_bytes(HASH_BEGIN, token, strlen(token));
}

/* "work.HOST." begins the names on this host. The length. */
static size_t prefix(char *text, size_t size)
{
    char host[HOST_OWN_MAX] = "localhost";
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
    int error = flock(fd, operation | LOCK_NB) ? errno : 0;
    if (error == 0 && (fstat(fd, &ours) || stat(path, &present) || ours.st_ino != present.st_ino))
        error = EWOULDBLOCK;
    if (error == 0 || (operation == LOCK_SH && error != EWOULDBLOCK))
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int control_directory(const char *purpose, const char *token, char *path, size_t size, struct error *error)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    char base[256], host[HOST_OWN_MAX + 16], mark[CONTROL_NAMESPACE_MARK_MAX];
    if (control_rundir(base, sizeof base, error))
        return -1;
    prefix(host, sizeof host);
    control_namespace_mark(mark);
    if (token[0])
        snprintf(path, size, "%s/%s%s.%016llx", base, host, purpose, digest(token));
    else
        snprintf(path, size, "%s/%s%s.%ld%s", base, host, purpose, (long)getpid(), mark);
    for (int i = 0; i < TRIES; i++) {
        if (control_rundir_make(path, error))
            return -1;
        int fd = lock(path, LOCK_SH);
        if (fd >= 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != ENOENT)
            break;
        nanosleep(&pause, NULL);
    }
    return error_set(error, ERROR_FAILED, "cannot use %s: %s", path, strerror(errno));
}

void control_directory_sweep(const char *base, const char *name)
{
    char start[80], path[600];
    size_t length = prefix(start, sizeof start);
    if (strncmp(name, start, length))
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
    char base[256];
    struct error error;
    struct dirent *entry;
    DIR *entries = !control_rundir(base, sizeof base, &error) ? opendir(base) : NULL;
    while (entries && (entry = readdir(entries)))
        control_directory_sweep(base, entry->d_name);
    if (entries)
        closedir(entries);
}
