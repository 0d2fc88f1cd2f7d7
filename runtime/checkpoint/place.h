/*
 * The name of a file that is made: it is written beside, as NAME@HOST.epop-part, and gets its name when it is complete.
 * Who writes it, on that host, has a lock on it; one without is left from a job that was killed, and goes with the next
 * one that is made in that directory by the same host: others may not see its locks. Knows no MPI: the first rank's.
 */
#ifndef EPOP_CHECKPOINT_PLACE_H
#define EPOP_CHECKPOINT_PLACE_H

#include <limits.h>

#include "runtime/base/error.h"

struct place {
    char path[PATH_MAX], part[PATH_MAX];
    int lock; /* also for writing; -1: nothing to do */
};

/* Only the names; the part is this host's. -1: too long. */
int place_name(struct place *place, const char *path, struct error *error);

/* Removes what is left of others, and makes an empty file. */
int place_make(struct place *place, struct error *error);

/* It has its name, and that is on disk. Without a trace if it fails. */
int place_settle(struct place *place, struct error *error);

/* The path of a file of the same directory. -1: too long, or no mere name. */
int place_beside(const char *path, const char *name, char other[PATH_MAX]);

void place_remove(struct place *place);

#endif
