/* The files of checkpoints in a directory, and choosing one of them. */
#include "runtime/checkpoint/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/array.h"
#include "runtime/base/say.h"
#include "runtime/checkpoint/format.h"
#include "runtime/checkpoint/hdf5.h"
#include "runtime/checkpoint/owner.h"

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

static bool is_listed(const char *entry, const char *name, int *number)
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
static int add_file(struct checkpoint_file **files, size_t *count, size_t *room, const char *directory,
                    const char *entry, int number)
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
        if (is_listed(entry->d_name, name, &number))
            result = add_file(files, count, &room, directory, entry->d_name, number);
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

/* ---- What a job goes on from -------------------------------------------------------------------- */

/* 0, or -1 with text. */
static int look_at_head(const char *path, struct checkpoint_head *head, struct error *error)
{
    void *file;
    if (store_file.open(path, MPI_COMM_SELF, head, &file, error))
        return -1;
    store_file.close(file);
    return 0;
}

/* One that cannot be read is passed over, with a note; those of other programs without one. False: it is none. */
static bool is_of_program(const char *path, const struct checkpoint_head *here, struct checkpoint_head *head)
{
    struct error why;
    if (look_at_head(path, head, &why)) {
        say_line("note: %s; an older one is looked for", why.text);
        return false;
    }
    if (!strcmp(head->program, here->program))
        return true;
    checkpoint_head_free(head);
    return false;
}

static int choose_newest(const char *directory, const struct checkpoint_head *here, char chosen[PATH_MAX],
                         struct checkpoint_head *head, struct error *error)
{
    struct checkpoint_file *files;
    size_t count, i = 0;
    if (files_list(directory, NULL, &files, &count, error))
        return -1;
    while (i < count && !is_of_program(files[i].path, here, head))
        i++;
    if (i < count)
        snprintf(chosen, PATH_MAX, "%s", files[i].path);
    else
        error_set(error, ERROR_REFUSED, "%.2000s: there is no checkpoint of the program '%.200s' in it", directory,
                  here->program);
    files_free(files, count);
    return i < count ? 0 : -1;
}

int restart_choose(const char *path, const struct checkpoint_head *here, char chosen[PATH_MAX],
                   struct checkpoint_head *head, struct error *error)
{
    struct stat state;
    bool directory = !stat(path, &state) && S_ISDIR(state.st_mode);
    snprintf(chosen, PATH_MAX, "%s", path);
    if (!hdf5_load(error)) /* then no file can be read: said once */
        return -1;
    if (directory ? choose_newest(path, here, chosen, head, error) : look_at_head(path, head, error))
        return -1;
    if (!owner_compare(head, here, chosen, error))
        return 0;
    checkpoint_head_free(head);
    return -1;
}
