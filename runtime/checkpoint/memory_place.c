/* Directories in memory: made, held, and removed when nobody holds them. */
#include "runtime/checkpoint/memory_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/host.h"
#include "runtime/base/random.h"
#include "runtime/control/rundir.h"

#define MEMORY "/dev/shm"
enum { LEFT_SECONDS = 3600, TRIES = 1000 };

int memory_place_name(char *path, size_t size, struct error *error)
{
    char key[20];
    if (access(MEMORY, W_OK | X_OK))
        return error_set(error, ERROR_FAILED, MEMORY ", where checkpoints in memory lie: %s", strerror(errno));
    if (random_hex(key, 8))
        return error_set(error, ERROR_FAILED, "the kernel gives no random numbers");
    snprintf(path, size, MEMORY "/epop-%ld-%s-%s", (long)geteuid(), key, host_own());
    return 0;
}

static int open_lock(const char *path)
{
    char file[600];
    snprintf(file, sizeof file, "%.500s/in-use", path);
    return open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* One who sweeps may have it for a moment, and remove it: then it is another file. */
static bool lock_place(int fd, const char *path)
{
    char file[600];
    struct stat ours, present;
    snprintf(file, sizeof file, "%.500s/in-use", path);
    return !flock(fd, LOCK_SH | LOCK_NB) && !fstat(fd, &ours) && !stat(file, &present) && ours.st_ino == present.st_ino;
}

int memory_place_hold(const char *path, struct error *error)
{
    for (int tries = 0; tries < TRIES; tries++) {
        if (control_rundir_make(path, error))
            return -1;
        int fd = open_lock(path);
        if (fd >= 0 && lock_place(fd, path))
            return fd;
        if (fd >= 0)
            close(fd);
        usleep(1000);
    }
    return error_set(error, ERROR_FAILED, "cannot use %s: %s", path, strerror(errno));
}

void memory_place_remove(const char *path)
{
    control_rundir_remove(path);
}

/* Is it one of this user's, by its name? Whose supervisor is, or was, on this host? */
static bool is_place_of_this_user(const char *name, bool *here)
{
    long user;
    int key = 0;
    if (sscanf(name, "epop-%ld-%*16[0-9a-f]-%n", &user, &key) != 1 || !key || user != (long)geteuid())
        return false;
    *here = !strcmp(name + key, host_own());
    return true;
}

static void sweep_one(const char *name, bool here)
{
    char path[300];
    struct stat status;
    snprintf(path, sizeof path, MEMORY "/%.255s", name);
    if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
        return;
    if (!here && time(NULL) - status.st_mtime < LEFT_SECONDS)
        return;
    int fd = open_lock(path);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB))
        control_rundir_remove(path);
    close(fd);
}

void memory_place_sweep(void)
{
    struct dirent *entry;
    bool here;
    DIR *entries = opendir(MEMORY);
    while (entries && (entry = readdir(entries)))
        if (is_place_of_this_user(entry->d_name, &here))
            sweep_one(entry->d_name, here);
    if (entries)
        closedir(entries);
}
