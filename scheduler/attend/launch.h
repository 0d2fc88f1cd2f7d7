/* What an attendant is to start: launch.json of the job's directory (schema/attend.schema.json). */
#ifndef SCHEDULER_ATTEND_LAUNCH_H
#define SCHEDULER_ATTEND_LAUNCH_H

#include <stdbool.h>

#include "runtime/base/error.h"

struct launch {
    char **argv;        /* ends with NULL */
    char **environment; /* K=V, ends with NULL; the whole of it */
    char *cwd, *output; /* cwd: NULL for the attendant's own */
    char *batch;        /* "epoprm:17" */
    bool once;          /* it may go on when an EPOP job in it has gone */
};

/* `mark`, "NAME=value", becomes the first word of its environment. -1: a line names the file. */
int launch_read(struct launch *launch, const char *path, const char *mark, struct error *error);
void launch_free(struct launch *launch);
/* Of its environment, or NULL. */
const char *launch_variable(const struct launch *launch, const char *name);

#endif
