/* What /proc/PID/stat says of a process. */
#ifndef EPOP_BASE_PROCSTAT_H
#define EPOP_BASE_PROCSTAT_H

#include <stdbool.h>

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

#endif
