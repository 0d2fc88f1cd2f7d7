/* What a job goes on from: the file is chosen, and looked at, by one process, before there is a world. */
#ifndef EPOP_CHECKPOINT_RESTART_H
#define EPOP_CHECKPOINT_RESTART_H

#include <limits.h>

#include "runtime/checkpoint/store.h"

/*
 * path is a file, or a directory: then the newest file in it that is whole and of this program. Reads the head, which
 * must be of `here`, into *head. 0, or -1 with text. Local.
 */
int restart_choose(const char *path, const struct checkpoint_head *here, char chosen[PATH_MAX],
                   struct checkpoint_head *head, struct error *error);

#endif
