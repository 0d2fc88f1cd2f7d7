/* How the daemon before this one was started, from its journal: what the next one takes where nothing else is said. */
#ifndef SCHEDULER_EPOPRM_BEFORE_H
#define SCHEDULER_EPOPRM_BEFORE_H

#include "runtime/base/error.h"

/* NULL, or 0: there was none, or it was not told. */
struct before {
    char *hosts, *policy, *launcher, *launcher_exec;
    int local;
};

/* No journal is no failure. */
int before_read(struct before *before, struct error *error);
void before_free(struct before *before);

#endif
