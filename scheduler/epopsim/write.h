/* JSON into a file or to the standard output. */
#ifndef SCHEDULER_EPOPSIM_WRITE_H
#define SCHEDULER_EPOPSIM_WRITE_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"

/* path: "-" is the standard output. A regular file is whole or as it was before. Takes the JSON, which may be NULL: no
 * memory. */
int write_json(const char *path, cJSON *json, struct error *error);

#endif
