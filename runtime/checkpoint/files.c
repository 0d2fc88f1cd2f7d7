/* The files of checkpoints in a directory: see files.h. */
#include "runtime/checkpoint/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/array.h"
#include "runtime/checkpoint/head.h"

#define ENDING ".h5"

bool files_name(const char *path, char *name, size_t size, int *number)
{
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path, *dash = strrchr(begin, '-');
    char *end;
    if (!dash || dash == begin || dash[1] < '0' || dash[1] > '9')
        return false;
    long value = strtol(dash + 1, &end, 10);
    if (strcmp(end, ENDING) || value < 1 || value > CHECKPOINT_NUMBER_MOST || (size_t)(dash - begin) >= size)
        return false;
    snprintf(name, size, "%.*s", (int)(dash - begin), begin);
    *number = (int)value;
    return true;
}

static bool is_wanted(const char *entry, const char *name, int *number)
{
    char own[NAME_MAX + 1];
    size_t length = strlen(entry), ending = strlen(ENDING);
    bool numbered = files_name(entry, own, sizeof own, number);
    if (name)
        return numbered && !strcmp(own, name);
    if (!numbered)
        *number = 0;
    return length > ending && !strcmp(entry + length - ending, ENDING);
}

static int newest_first(const void *a, const void *b)
{
    const struct checkpoint_file *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return (x->number < y->number) - (x->number > y->number);
}

/* 0, or -1: out of memory. One that has gone meanwhile is left out, and so is what is no file: a FIFO has no end. */
static int add(struct checkpoint_file **files, size_t *count, size_t *room, const char *directory, const char *entry,
               int number)
{
    struct stat state;
    char *path;
    if (asprintf(&path, "%s/%s", directory, entry) < 0)
        return -1;
    if (stat(path, &state) || !S_ISREG(state.st_mode)) {
        free(path);
        return 0;
    }
    if (array_reserve(files, room, *count + 1, sizeof **files)) {
        free(path);
        return -1;
    }
    double time = (double)state.st_mtim.tv_sec + (double)state.st_mtim.tv_nsec * 1e-9;
    (*files)[(*count)++] = (struct checkpoint_file){path, number, time};
    return 0;
}

int files_list(const char *directory, const char *name, struct checkpoint_file **files, size_t *count,
               struct error *error)
{
    size_t room = 0;
    int number, result = 0;
    const struct dirent *entry;
    DIR *stream = opendir(directory);
    *files = NULL;
    *count = 0;
    if (!stream)
        return error_set(error, ERROR_FAILED, "%.2000s: %s", directory, strerror(errno));
    while (!result && (entry = readdir(stream)))
        if (is_wanted(entry->d_name, name, &number))
            result = add(files, count, &room, directory, entry->d_name, number);
    closedir(stream);
    if (result) {
        files_free(*files, *count);
        return error_memory(error);
    }
    if (*count)
        qsort(*files, *count, sizeof **files, newest_first);
    return 0;
}

void files_free(struct checkpoint_file *files, size_t count)
{
    while (count > 0)
        free(files[--count].path);
    free(files);
}
