/*
 * The output of a further mpiexec, passed on to that of this process as it comes; but for what Hydra itself says about
 * processes that were ended ("BAD TERMINATION", "Sending Ctrl-C"): when a joining is called off the job runs on, and
 * its output is not to look as if it had crashed. Who asked for it hears the reason.
 */
#ifndef EPOP_RELAY_H
#define EPOP_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RELAY_SAID 200

struct relay {
    int out[2], err[2]; /* pipes; the second ends are for mpiexec */
    pthread_mutex_t lock;
    char said[RELAY_SAID]; /* the last line on the second one */
    bool hidden;           /* for its user, once it is open: only `said` is of use, as the rest is seen without */
};

/* 0, or an error number. */
int relay_open(struct relay *relay);

/* mpiexec runs and has its ends: closes them here. */
void relay_started(struct relay *relay);

/* Passes on until process `pid`, a child, has ended, and what it has written by then. Closes the relay. Did mpiexec
 * say that something went wrong in itself? Then its status is not that of a process. */
bool relay_run(struct relay *relay, pid_t pid);

/* What a program has said of itself last, in a line "NAME: TEXT" on standard error: the text. False: nothing (yet). Any
 * thread, until relay_run is over. */
bool relay_said(struct relay *relay, const char *name, char *text, size_t size);

/* Closes it unused. */
void relay_close(struct relay *relay);

#endif
