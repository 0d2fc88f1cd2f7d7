/*
 * The name of a file that is being made: it is written as NAME@HOST.epop-part, and gets its name when it is
 * complete. Who writes it has a lock on it, on that host. A part without a lock was left by a job that was killed;
 * it is removed when the next file is made in that directory by the same host (other hosts may not see its locks).
 * Knows no MPI; for the first rank.
 */
#ifndef EPOP_CHECKPOINT_FILE_PLACE_H
#define EPOP_CHECKPOINT_FILE_PLACE_H

#include <limits.h>

#include "runtime/base/error.h"

struct file_place {
    char path[PATH_MAX], part[PATH_MAX];
    int lock; /* also for writing; -1: nothing to do */
};

/* Only the names; the part is this host's. -1: too long. */
int file_place_name(struct file_place *place, const char *path, struct error *error);

/* Removes what is left of others, and makes an empty file. */
int file_place_make(struct file_place *place, struct error *error);

/* Gives it its name, and has that on disk. If it fails nothing is left. */
int file_place_settle(struct file_place *place, struct error *error);

/* The path of a file of the same directory. -1: too long, or no mere name. */
int file_place_beside(const char *path, const char *name, char other[PATH_MAX]);

void file_place_remove(struct file_place *place);

#endif
