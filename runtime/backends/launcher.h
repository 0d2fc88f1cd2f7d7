/*
 * Starting joining processes in a launch of their own, on the coordinator's thread: `mpiexec -n K epop ...`, with the
 * job's own command line, and what a joiner has to know in EPOP_JOIN of its environment.
 */
#ifndef EPOP_BACKENDS_LAUNCHER_H
#define EPOP_BACKENDS_LAUNCHER_H

#include "runtime/base/error.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"

/* What the launcher needs of the job; set before the first adaptation. The strings stay the caller's. */
struct launcher_job {
    char **argv;     /* the command line of epop, NULL at the end */
    const char *uri; /* of the control plane */
    const char *token;
    int (*tell)(const cJSON *message); /* the coordinator; any thread */
};

/* Takes note of this process's conditions too, so it comes before the program's INIT. 0, or -1: out of memory. */
int launcher_init(const struct launcher_job *job);

/* The hooks of struct backend, for the joiners that have to be started: all but the first a->parked. */
int launcher_choose(struct coordinator *c, struct adaptation *a, const char *hosts, struct error *error);
bool launcher_start(struct coordinator *c, const struct adaptation *a);
void launcher_cancel(struct coordinator *c, const struct adaptation *a);
void launcher_kill(struct coordinator *c, const struct adaptation *a);
void launcher_event(struct coordinator *c, void *handle, int status);
double launcher_tick(struct coordinator *c);
bool launcher_runs(int adaptation);
int launcher_busy(void);

/* The first exit status of a launcher that was not 0, else 0. */
int launcher_status(void);

/* ---- The other side: in a process that was started so ---- */

struct joining {
    int first;   /* process number of its rank 0 */
    cJSON *wake; /* the message that wakes it, as it were, to join; owned */
    char uri[512], token[65];
    struct error failure; /* why it cannot be like the running ones; no code: it can */
    cJSON *plan;          /* of one that comes in the window, not before; owned; NULL */
};

/* Reads EPOP_JOIN, takes it out of the environment and makes this process's conditions those of the first ones. false:
 * this process was not started to join. */
bool launcher_joining(struct joining *joining);

#endif
