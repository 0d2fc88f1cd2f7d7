/* Files under a temporary name, with a lock, until they are complete. */
#include "runtime/checkpoint/file_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/host.h"

#define SUFFIX     ".epop-part"
#define ENDING_MAX (HOST_OWN_MAX + 16)

/* '@' stands in no host's name. */
static void own_ending(char ending[ENDING_MAX])
{
    snprintf(ending, ENDING_MAX, "@%s" SUFFIX, host_own());
}

int file_place_name(struct file_place *place, const char *path, struct error *error)
{
    char ending[ENDING_MAX];
    own_ending(ending);
    place->lock = -1;
    if (snprintf(place->path, sizeof place->path, "%s", path) < PATH_MAX &&
        snprintf(place->part, sizeof place->part, "%s%s", path, ending) < PATH_MAX)
        return 0;
    return error_set(error, ERROR_REFUSED, "its path is too long");
}

/* Ends with '/', or is empty. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

int file_place_beside(const char *path, const char *name, char other[PATH_MAX])
{
    int length = snprintf(other, PATH_MAX, "%.*s%s", directory_length(path), path, name);
    return length < PATH_MAX && !strchr(name, '/') ? 0 : -1;
}

static int open_its_directory(const struct file_place *place)
{
    char directory[PATH_MAX];
    int length = directory_length(place->path);
    snprintf(directory, sizeof directory, "%.*s", length ? length : 1, length ? place->path : ".");
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- What is left of others --------------------------------------------------------------------- */

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && !strcmp(name + length - end, ending);
}

/* Where there are no locks, all are left alone; so are those of other hosts, where a lock may be known there alone. */
static void remove_if_left(int directory, const char *name)
{
    int fd = openat(directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB))
        unlinkat(directory, name, 0);
    close(fd);
}

static void sweep_directory(const struct file_place *place)
{
    struct dirent *entry;
    char ending[ENDING_MAX];
    int fd = open_its_directory(place);
    own_ending(ending);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    while (directory && (entry = readdir(directory)))
        if (has_ending(entry->d_name, ending))
            remove_if_left(fd, entry->d_name);
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
}

/* ---- One's own ---------------------------------------------------------------------------------- */

/* Another's sweep may have removed it before it was locked. */
static bool is_still_there(int fd, const char *path)
{
    struct stat own, there;
    return !fstat(fd, &own) && !stat(path, &there) && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static int take_lock(struct file_place *place, struct error *error)
{
    int fd = open(place->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "%s", strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        close(fd);
        return error_set(error, ERROR_REFUSED, "another job is writing it");
    }
    if (ftruncate(fd, 0)) {
        error_set(error, ERROR_FAILED, "%s", strerror(errno));
        close(fd);
        return -1;
    }
    place->lock = fd;
    return 0;
}

int file_place_make(struct file_place *place, struct error *error)
{
    struct stat status;
    if (!stat(place->path, &status) && S_ISDIR(status.st_mode))
        return error_set(error, ERROR_REFUSED, "that is a directory");
    sweep_directory(place);
    do {
        if (place->lock >= 0)
            close(place->lock);
        place->lock = -1;
        if (take_lock(place, error))
            return -1;
    } while (!is_still_there(place->lock, place->part));
    return 0;
}

/* Some file systems cannot do it, and say so. */
static int sync_directory(const struct file_place *place)
{
    int fd = open_its_directory(place);
    int result = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return result && errno != EINVAL ? -1 : 0;
}

int file_place_settle(struct file_place *place, struct error *error)
{
    if (rename(place->part, place->path)) {
        error_set(error, ERROR_FAILED, "%s", strerror(errno));
        file_place_remove(place);
        return -1;
    }
    close(place->lock);
    place->lock = -1;
    return sync_directory(place) ? error_set(error, ERROR_FAILED, "its directory: %s", strerror(errno)) : 0;
}

void file_place_remove(struct file_place *place)
{
    if (place->lock < 0)
        return;
    unlink(place->part);
    close(place->lock);
    place->lock = -1;
}
