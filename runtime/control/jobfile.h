/* The address files. */
#ifndef EPOP_CONTROL_JOBFILE_H
#define EPOP_CONTROL_JOBFILE_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "runtime/base/error.h"

/* Writes ID.json; its path for the removal into path. 0, or -1 with text. */
int control_jobfile_write(const char *id, const cJSON *job, const char *uri, const char *token, char *path,
                          size_t path_size, struct error *error);

#endif
