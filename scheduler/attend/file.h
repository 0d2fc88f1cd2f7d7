/* Small files of a job's directory, read and written as a whole. */
#ifndef SCHEDULER_ATTEND_FILE_H
#define SCHEDULER_ATTEND_FILE_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"

/* The caller's to free. NULL: errno says why. */
char *file_read(const char *path);
/* The same as JSON, or NULL. */
cJSON *file_read_json(const char *path);
/* Nobody ever reads half of it. */
int file_write_json(const char *path, const cJSON *json, struct error *error);

#endif
