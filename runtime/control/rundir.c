/*
 * The user's private directory for address files: $XDG_RUNTIME_DIR/epop, or /tmp/epop-UID where there is none. Jobs
 * may have been started with or without it, so both are looked at. Jobs of a batch system are to be found from other
 * hosts: they use a directory below the user's home. $EPOP_RUNTIME_DIR replaces all.
 * The token in the files is all that keeps others out, so a directory that others may look into is refused.
 */
#include "runtime/control/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/batch.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/host.h"
#include "runtime/base/paths.h"
#include "runtime/base/proctree.h"
#include "runtime/control/control.h"

#define FIRST_NAMESPACE "pid:[4026531836]"

static bool owned_directory(const char *path)
{
    struct stat status;
    return !lstat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

static bool is_private(const char *path)
{
    struct stat status;
    return owned_directory(path) && !lstat(path, &status) && (status.st_mode & 077) == 0;
}

int control_rundir_make(const char *path, struct error *error)
{
    struct stat status;
    bool known;
    do { /* again, where another has removed it since, as what sweeps the directories of jobs that are gone does */
        if (mkdir(path, 0700) && errno != EEXIST)
            return error_set(error, ERROR_FAILED, "cannot create %s: %s", path, strerror(errno));
        known = !lstat(path, &status);
    } while (!known && errno == ENOENT);
    if (!known || !S_ISDIR(status.st_mode))
        error_set(error, ERROR_FAILED, "%s is not a directory: remove it", path);
    else if (status.st_uid != geteuid())
        error_set(error, ERROR_FAILED, "%s belongs to user %ld: remove it or set XDG_RUNTIME_DIR", path,
                  (long)status.st_uid);
    else if ((status.st_mode & 077) != 0)
        error_set(error, ERROR_FAILED, "%s is open to others: chmod 700 %s", path, path);
    else
        return 0;
    return -1;
}

/* $XDG_RUNTIME_DIR/epop, where there is such a directory. 0 or -1. */
static int below_runtime(char *path, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (!runtime || runtime[0] != '/' || !owned_directory(runtime))
        return -1;
    int length = snprintf(path, size, "%s/epop", runtime);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

/* $EPOP_RUNTIME_DIR: 0 or -1. */
static int chosen_directory(char *path, size_t size)
{
    const char *directory = getenv("EPOP_RUNTIME_DIR");
    return directory && directory[0] == '/' && strlen(directory) < size ? (strcpy(path, directory), 0) : -1;
}

/* The user's directory for EPOP, made if missing. 0, or -1 with text when it is not ours alone. */
static int rundir_of_user(char *path, size_t size, struct error *error)
{
    if (chosen_directory(path, size) && below_runtime(path, size))
        snprintf(path, size, "/tmp/epop-%ld", (long)geteuid());
    return control_rundir_make(path, error);
}

int control_rundir_jobs(char *path, size_t size, struct error *error)
{
    if (!chosen_directory(path, size) || !batch_job() || statedir_path(path, size, "run"))
        return rundir_of_user(path, size, error);
    return make_parents(path, 0700) || control_rundir_make(path, error) ? rundir_of_user(path, size, error) : 0;
}

int control_rundirs(char paths[CONTROL_RUNDIRS_MAX][256])
{
    char candidates[CONTROL_RUNDIRS_MAX][256];
    int count = 0;
    if (!chosen_directory(paths[0], sizeof paths[0]))
        return is_private(paths[0]) ? 1 : 0;
    if (below_runtime(candidates[0], sizeof candidates[0]))
        candidates[0][0] = '\0';
    snprintf(candidates[1], sizeof candidates[1], "/run/user/%ld/epop", (long)geteuid());
    snprintf(candidates[2], sizeof candidates[2], "/tmp/epop-%ld", (long)geteuid());
    if (statedir_path(candidates[3], sizeof candidates[3], "run"))
        candidates[3][0] = '\0';
    for (int i = 0; i < CONTROL_RUNDIRS_MAX; i++)
        if (is_private(candidates[i]) && (count == 0 || strcmp(candidates[i], paths[0])))
            strcpy(paths[count++], candidates[i]);
    return count;
}

int control_rundir_socket(char *path, size_t size, struct error *error)
{
    char base[256], mark[CONTROL_NAMESPACE_MARK_MAX];
    if (rundir_of_user(base, sizeof base, error))
        return -1;
    control_namespace_mark(mark);
    snprintf(path, size, "%s/wire.%.40s.%ld.%llu%s", base, host_own(), (long)getpid(), proctree_id(getpid()).start,
             mark);
    return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void control_rundir_remove(const char *path)
{
    nftw(path, remove_entry, 4, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The first one has a number that is the kernel's for ever, and the host's name says which machine it is of. Numbers of
 * others are given out anew, on each machine. */
void control_namespace(char text[CONTROL_NAMESPACE_MAX])
{
    char link[40] = "", boot[40] = "";
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    text[0] = 0;
    if (length <= 0 || !strcmp(link, FIRST_NAMESPACE))
        return;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file && fgets(boot, sizeof boot, file))
        boot[strcspn(boot, "\n")] = 0;
    if (file)
        fclose(file);
    snprintf(text, CONTROL_NAMESPACE_MAX, "%s %s", link, boot);
}

void control_namespace_mark(char text[CONTROL_NAMESPACE_MARK_MAX])
{
    char name[CONTROL_NAMESPACE_MAX];
    control_namespace(name);
    text[0] = 0;
    if (name[0])
        snprintf(text, CONTROL_NAMESPACE_MARK_MAX, ".%08llx",
                 (unsigned long long)hash_bytes(HASH_BEGIN, name, strlen(name)) & 0xffffffff);
}

/* ---- Directories for files of a job ------------------------------------------------------------- */

/*
 * Directories for files of a job, beside the address files. Whoever uses one holds a lock on a file in it, which goes
 * with the last process that has it: so what nobody holds is left over from a job that was killed, and may be removed.
 */

#define TRIES 1000 /* each after a millisecond */

/* So much of the token that no two jobs meet, and nothing of it that helps to guess the rest. */
static unsigned long long digest_of_token(const char *token)
{
    return hash_bytes(HASH_BEGIN, token, strlen(token));
}

/* "work.HOST." begins the names on this host. The length. */
static size_t begin_of_names(char *text, size_t size)
{
    return (size_t)snprintf(text, size, "work.%s.", host_own());
}

/* The lock of the directory as it is now: a descriptor, or -1 with errno; EWOULDBLOCK: another has it, or has just
 * removed it. Where locks are not supported nobody gets the exclusive one. */
static int lock_directory(const char *directory, int operation)
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
    if (rundir_of_user(base, sizeof base, error))
        return -1;
    begin_of_names(host, sizeof host);
    control_namespace_mark(mark);
    if (token[0])
        snprintf(path, size, "%s/%s%s.%016llx", base, host, purpose, digest_of_token(token));
    else
        snprintf(path, size, "%s/%s%s.%ld%s", base, host, purpose, (long)getpid(), mark);
    for (int i = 0; i < TRIES; i++) {
        if (control_rundir_make(path, error))
            return -1;
        int fd = lock_directory(path, LOCK_SH);
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
    size_t length = begin_of_names(start, sizeof start);
    if (strncmp(name, start, length))
        return;
    snprintf(path, sizeof path, "%.255s/%.255s", base, name);
    int fd = lock_directory(path, LOCK_EX);
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
    DIR *entries = !rundir_of_user(base, sizeof base, &error) ? opendir(base) : NULL;
    while (entries && (entry = readdir(entries)))
        control_directory_sweep(base, entry->d_name);
    if (entries)
        closedir(entries);
}
