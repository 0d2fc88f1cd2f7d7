/* Other processes of this host, as /proc shows them. */
#ifndef EPOP_BASE_PROC_H
#define EPOP_BASE_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/* ---- One process -------------------------------------------------------------------------------- */

/* What /proc/PID/stat says of it. */
struct procstat {
    char name[64]; /* the kernel's, which it cuts off */
    char state;    /* 'Z': nothing of it is left but its exit status */
    long parent;
    unsigned long long start; /* clock ticks since boot: with the number it is one process for ever */
    int status;               /* as of waitpid, of one that has ended; 0 where that may not be seen */
};

/* 0, or -1: there is no such process. Any thread. */
int procstat_read(long pid, struct procstat *stat);

/* The first child of that process's first thread that `is` says yes to; 0: none. Any thread. */
long procstat_child(long parent, bool (*is)(void *context, long pid, const struct procstat *stat), void *context);

/* ---- The processes of a job --------------------------------------------------------------------- */

/* Those of this user, on this host, that descend from one process, however far, and those that carry the job's mark in
 * the environment that they were started with. */

/* root: -1 for none; mark: "NAME=value", or NULL. A signal (0: none) to each but for this process and the root; SIGKILL
 * until there are no more. How many there were that are not dead; -1: /proc cannot be read. */
int kin_signal(pid_t root, const char *mark, int number);
/* SIGTERM, and SIGKILL 2 s later; waits until they are gone, or 5 s more. False: there were none. */
bool kin_end(pid_t root, const char *mark);

#endif
