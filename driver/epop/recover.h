/*
 * epop --recover N: the outermost command. It starts mpiexec, and when the job dies by a fault, a process that was
 * killed or a host that is gone, ends what is left of it and starts it again, N times at most, on the hosts that are
 * left. It is a process of its own, which outlives all that it started.
 */
#ifndef DRIVER_RECOVER_H
#define DRIVER_RECOVER_H

#include <stdbool.h>

struct options;

struct recover_options {
    int times;                            /* 0: it is not wanted */
    int ranks;                            /* 0: one */
    const char *hosts;                    /* "n1:4,n2:4"; NULL: this one */
    const char *launcher, *launcher_exec; /* as mpiexec's */
};

/* Is this process the outermost command (and not what that started)? */
bool recover_is_wanted(const struct options *options);

/* The exit status of the job. */
int recover_run(const struct options *options);

#endif
