/* Where the daemon of this user has its state: $EPOPRM_DIR, or epop/epoprm in the directory of such things. */
#ifndef SCHEDULER_EPOPRM_PLACE_H
#define SCHEDULER_EPOPRM_PLACE_H

#include "runtime/base/error.h"

enum { PLACE_MAX = 4096 };

/* -1: there is no home for it, or the path is too long. */
int place_directory(char path[PLACE_MAX], struct error *error);
/* A file in it. */
int place_file(char path[PLACE_MAX], const char *name, struct error *error);
/* Makes it, with what is above it; refused where others may write to it. */
int place_make(const char *path, struct error *error);

#endif
