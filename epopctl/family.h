/*
 * The processes of a job on this host: that of rank 0, what started it (Hydra's proxy and its mpiexec), and what they
 * have started, ranks and launches of joining processes. A process that shares no output with the one that started it
 * is the program's own affair, and left out.
 */
#ifndef EPOP_CTL_FAMILY_H
#define EPOP_CTL_FAMILY_H

#include <stddef.h>

#include "epopctl/jobs.h"

/* The job's own process, that of rank 0; mpiexec and proxies; all others. */
enum { CTL_JOB = 1, CTL_LAUNCHER = 2, CTL_OTHER = 4, CTL_ALL = 7 };

struct ctl_relative {
    long pid;
    unsigned long long start; /* so that another process of the same number is not taken for it */
    int kind;
    char name[32];
};

struct ctl_family {
    struct ctl_relative *members;
    size_t count, room;
};

/* Those that are there now and not yet in it; *family is zero at first. Empty where the job's process is gone, not this
 * user's, or on another host. */
void ctl_family_find(struct ctl_family *family, const struct control_job *job);
void ctl_family_free(struct ctl_family *family);

/* One that is still there; NULL: none is. */
const struct ctl_relative *ctl_family_left(const struct ctl_family *family);
/* To those of these kinds that are still there. */
void ctl_family_signal(const struct ctl_family *family, int kinds, int number);

#endif
