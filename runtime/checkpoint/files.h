/*
 * The files of checkpoints in a directory, by their names (NAME-0017.h5 has number 17), and the one that a job goes
 * on from. Local.
 */
#ifndef EPOP_CHECKPOINT_FILES_H
#define EPOP_CHECKPOINT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/store.h"

struct checkpoint_file {
    char *path;
    int number;
    double time; /* when it was completed */
};

/* What `path` is called without its directory, number and ending; its number. False: it is not called so. */
bool files_name(const char *path, char *name, size_t size, int *number);

/* Those that end as files of checkpoints do; name: only those that are called so, NULL: all. The newest first; *files
 * is from malloc(), as each path. 0, or -1 with text. */
int files_list(const char *directory, const char *name, struct checkpoint_file **files, size_t *count,
               struct error *error);
void files_free(struct checkpoint_file *files, size_t count);

/* ---- What a job goes on from -------------------------------------------------------------------- */

/*
 * One process chooses the file, and looks at it, before there is a world. path is a file, or a directory: then the
 * newest file in it that is whole and of this program. Reads the head, which must be of `here`, into *head. 0, or -1
 * with text. Local.
 */
int restart_choose(const char *path, const struct checkpoint_head *here, char chosen[PATH_MAX],
                   struct checkpoint_head *head, struct error *error);

#endif
