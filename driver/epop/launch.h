/*
 * The launcher: whether this process was started by one, and how to start the command again under mpiexec.
 */
#ifndef DRIVER_LAUNCH_H
#define DRIVER_LAUNCH_H

#include <stddef.h>

/* What the environment says about the launch. */
struct launch {
    const char *launcher; /* the variable that gives it away; NULL: started without a launcher */
    int rank, size;       /* -1 where the environment does not say */
};

struct launch launch_detect(void);

/* Whether this process prints what concerns the whole launch: rank 0, or any process where ranks are not known. */
int launch_speaks(void);

/* This executable; `given` where the system does not say. */
const char *launch_self(char *path, size_t size, const char *given);

/*
 * Replaces the process by the same command under `mpiexec -n 1`; returns only on failure, after a line on
 * stderr. The launcher is the one of the build, or EPOP_MPIEXEC of the environment.
 */
void launch_again_under_mpiexec(char **argv, int quiet);

#endif
