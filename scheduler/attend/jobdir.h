/* The files of a job's directory (schema/attend.schema.json). They are read and written as a whole. */
#ifndef SCHEDULER_ATTEND_JOBDIR_H
#define SCHEDULER_ATTEND_JOBDIR_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"

/* NULL: there is none, or it cannot be read. */
cJSON *jobdir_read_json(const char *path);
/* Nobody ever reads half of it. */
int jobdir_write_json(const char *path, const cJSON *json, struct error *error);

/* ---- launch.json: what an attendant is to start --------------------------------------------------- */

struct launch {
    char **argv;        /* ends with NULL */
    char **environment; /* K=V, ends with NULL; the whole of it */
    char *cwd, *output; /* cwd: NULL for the attendant's own */
    char *batch;        /* "epoprm:17" */
    bool once;          /* it may go on when an EPOP job in it has gone */
};

/* `mark`, "NAME=value", becomes the first word of its environment. -1: a line names the file. */
int jobdir_read_launch(struct launch *launch, const char *path, const char *mark, struct error *error);
/* Of its environment, or NULL. */
const char *jobdir_variable(const struct launch *launch, const char *name);

/* ---- ended.json: how a job ended. When it is there, nothing of the job runs on this host ----------- */

enum { JOBDIR_NOT_STARTED = 126, JOBDIR_NOT_FOUND = 127 }; /* exit statuses, as a shell has them */

/* By exit status or signal; below 0: null. `reason`: NULL where there is none. */
cJSON *jobdir_ended(int status, int signal, const char *reason);
/* It could not be begun. */
cJSON *jobdir_ended_failed(const char *reason);
/* Its attendant died, and so it was ended. */
cJSON *jobdir_ended_lost(void);

/* NULL: there is none. */
cJSON *jobdir_read_ended(const char *directory);
int jobdir_write_ended(const char *directory, const cJSON *ended, struct error *error);
/* Unless there is one. */
void jobdir_write_lost(const char *directory);

#endif
