/* Parts of checkpoints in memory: see memory_part.h. */
#include "runtime/checkpoint/memory_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/control/rundir.h"

#define UNFINISHED ".part"

static const char nothing[1];

static void path_of(char path[MEMORY_PATH], const char *directory, const struct memory_part *part, const char *ending,
                    const char *file)
{
    snprintf(path, MEMORY_PATH, "%.400s/%d-%d-%d%s%s", directory, part->number, part->rank, part->size, ending, file);
}

static int refuse(struct error *error, const char *path)
{
    if (errno == ENOSPC || errno == ENOMEM)
        return error_set(error, ERROR_FAILED, "no room for a checkpoint in memory: %s is full", path);
    return error_set(error, ERROR_FAILED, "a checkpoint in memory: %s: %s", path, strerror(errno));
}

int memory_part_begin(const char *directory, const struct memory_part *part, struct error *error)
{
    char path[MEMORY_PATH];
    if (control_rundir_make(directory, error))
        return -1;
    path_of(path, directory, part, UNFINISHED, "");
    if (!mkdir(path, 0700))
        return 0;
    if (errno == EEXIST) { /* of one that was killed while it wrote */
        control_rundir_remove(path);
        return mkdir(path, 0700) ? refuse(error, path) : 0;
    }
    return refuse(error, path);
}

static void name_slab(char name[24], int slab)
{
    snprintf(name, 24, "/%d", slab);
}

/* The memory is there, or it is said that it is not: a write into a page that cannot be had would be a SIGBUS. */
static void *map_new(int fd, int64_t bytes)
{
    int failed = posix_fallocate(fd, 0, bytes);
    if (failed) {
        errno = failed;
        return NULL;
    }
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

void *memory_part_make(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                       struct error *error)
{
    char path[MEMORY_PATH], name[24];
    name_slab(name, slab);
    path_of(path, directory, part, UNFINISHED, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *map = fd < 0 ? NULL : bytes ? map_new(fd, bytes) : (void *)nothing;
    if (!map)
        refuse(error, path);
    if (fd >= 0)
        close(fd);
    return map;
}

const void *memory_part_map(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                            struct error *error)
{
    char path[MEMORY_PATH], name[24];
    struct stat status;
    const void *map = NULL;
    name_slab(name, slab);
    path_of(path, directory, part, "", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        refuse(error, path);
    else if (status.st_size != bytes)
        error_set(error, ERROR_FAILED, "a checkpoint in memory: %s has %lld bytes instead of %lld", path,
                  (long long)status.st_size, (long long)bytes);
    else if (!bytes)
        map = nothing;
    else if ((map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        map = NULL;
        refuse(error, path);
    }
    if (fd >= 0)
        close(fd);
    return map;
}

void memory_part_unmap(const void *map, int64_t bytes)
{
    if (map && bytes)
        munmap((void *)map, (size_t)bytes);
}

/* ---- The head ----------------------------------------------------------------------------------- */

int memory_part_write_head(const char *directory, const struct memory_part *part, const char *bytes, size_t size,
                           struct error *error)
{
    char path[MEMORY_PATH];
    path_of(path, directory, part, UNFINISHED, "/head");
    FILE *file = fopen(path, "wxe");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file))
        written = false;
    return written ? 0 : refuse(error, path);
}

char *memory_part_read_head(const char *directory, const struct memory_part *part, size_t *size, struct error *error)
{
    char path[MEMORY_PATH];
    struct stat status;
    path_of(path, directory, part, "", "/head");
    FILE *file = fopen(path, "re");
    char *bytes = file && !fstat(fileno(file), &status) ? calloc(1, (size_t)status.st_size + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
    if (!bytes)
        refuse(error, path);
    if (file)
        fclose(file);
    return bytes;
}

/* ---- Which there are ------------------------------------------------------------------------------ */

int memory_part_complete(const char *directory, const struct memory_part *part, struct error *error)
{
    char from[MEMORY_PATH], to[MEMORY_PATH];
    path_of(from, directory, part, UNFINISHED, "");
    path_of(to, directory, part, "", "");
    return rename(from, to) ? refuse(error, to) : 0;
}

void memory_part_abandon(const char *directory, const struct memory_part *part)
{
    char path[MEMORY_PATH];
    path_of(path, directory, part, UNFINISHED, "");
    control_rundir_remove(path);
    path_of(path, directory, part, "", "");
    control_rundir_remove(path);
}

/* Is it one? *complete: without the ending. */
static bool read_name(const char *name, struct memory_part *part, bool *complete)
{
    int used = 0;
    if (sscanf(name, "%d-%d-%d%n", &part->number, &part->rank, &part->size, &used) != 3)
        return false;
    *complete = !name[used];
    return *complete || !strcmp(name + used, UNFINISHED);
}

int memory_parts_list(const char *directory, struct memory_part **parts)
{
    struct dirent *entry;
    struct memory_part part;
    size_t room = 0;
    int count = 0;
    bool complete;
    DIR *entries = opendir(directory);
    *parts = NULL;
    while (entries && count >= 0 && (entry = readdir(entries)))
        if (read_name(entry->d_name, &part, &complete) && complete) {
            if (array_reserve(parts, &room, (size_t)count + 1, sizeof part))
                count = -1;
            else
                (*parts)[count++] = part;
        }
    if (entries)
        closedir(entries);
    return count;
}

void memory_parts_remove_others(const char *directory, int number)
{
    struct dirent *entry;
    struct memory_part part;
    char path[MEMORY_PATH + 256];
    bool complete;
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries)))
        if (read_name(entry->d_name, &part, &complete) && part.number != number) {
            snprintf(path, sizeof path, "%.400s/%.255s", directory, entry->d_name);
            control_rundir_remove(path);
        }
    if (entries)
        closedir(entries);
}
