/* Choosing what a job goes on from: see restart.h. */
#include "runtime/checkpoint/restart.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/say.h"
#include "runtime/checkpoint/files.h"
#include "runtime/checkpoint/module.h"
#include "runtime/checkpoint/owner.h"

/* 0, or -1 with text. */
static int look(const char *path, struct checkpoint_head *head, struct error *error)
{
    void *file;
    if (store_file.open(path, MPI_COMM_SELF, head, &file, error))
        return -1;
    store_file.close(file);
    return 0;
}

/* One that cannot be read is passed over, with a note; those of other programs without one. False: it is none. */
static bool fits(const char *path, const struct checkpoint_head *here, struct checkpoint_head *head)
{
    struct error why;
    if (look(path, head, &why)) {
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
    while (i < count && !fits(files[i].path, here, head))
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
    if (!checkpoint_module(error)) /* then no file can be read: said once */
        return -1;
    if (directory ? choose_newest(path, here, chosen, head, error) : look(path, head, error))
        return -1;
    if (!owner_compare(head, here, chosen, error))
        return 0;
    checkpoint_head_free(head);
    return -1;
}
