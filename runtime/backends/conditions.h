/*
 * What joining processes are to find as the first ones did: environment, working directory, resource limits. Taken
 * when the job starts, as a program may change its own later.
 */
#ifndef EPOP_CONDITIONS_H
#define EPOP_CONDITIONS_H

#include <cjson/cJSON.h>
#include <limits.h>
#include <stddef.h>
#include <sys/resource.h>

#include "runtime/base/error.h"

struct conditions {
    char **environment; /* copies; without what belongs to this process's own launch */
    size_t count;       /* of its variables */
    char directory[PATH_MAX];
    struct rlimit limits[RLIM_NLIMITS];
};

/* Those of this process. 0, or -1 when out of memory. Before other threads of the program run. */
int conditions_take(struct conditions *conditions);

/* Can this process open what so many joiners need of it? Without that MPI would end the job, in the midst of joining.
 * 0, or -1 with one line of text. Local. */
int conditions_suffice(int joining, struct error *error);

/* The limits for the message to a joiner. */
cJSON *conditions_limits(const struct conditions *conditions);

/* In a joiner: sets the limits. 0, or -1 with one line of text when one cannot be had on this host. Local. */
int conditions_apply_limits(const cJSON *limits, struct error *error);

#endif
