/* One start of a job under `epop --recover`: from mpiexec's start to the moment when nothing of it runs here. */
#ifndef DRIVER_RECOVER_ATTEMPT_H
#define DRIVER_RECOVER_ATTEMPT_H

#include <stdbool.h>
#include <sys/types.h>

#include "driver/epop/recover_words.h"
#include "runtime/base/error.h"

struct attempt {
    struct words words;
    int signals; /* a signalfd for SIGCHLD and those that end a job */
    pid_t mpiexec;
    int status;                  /* mpiexec's, as of waitpid; counts when it has ended */
    bool ended;                  /* mpiexec has */
    bool told;                   /* the user wants the job to end */
    double died;                 /* when that was noticed, monotonic; 0: it has not */
    double kill;                 /* when what is left is killed; 0: never */
    double lost;                 /* when process 0 was missed; 0: it is there */
    void (*runs)(void *context); /* it was started again, and runs; NULL: nobody asks */
    void *context;
    bool stuck; /* with that, for good: it was killed, and has started nothing */
    int failed; /* how often in a row it was seen unable to go on */
};

/* Blocks the signals and makes what descends from this process its child. A signalfd, or -1 with text. */
int attempt_prepare(struct error *error);

/* Starts the command (argv[0] is a path), and waits until it has ended or died; what it left is ended then. False: it
 * could not be started, with text. */
bool attempt_run(struct attempt *attempt, char **argv, struct error *error);

/* Was this process told to end? While no attempt runs. */
bool attempt_told(int signals);

/* Has it died by a fault? Else it is over, with that status. */
bool attempt_died(const struct attempt *attempt, bool first);
int attempt_status(const struct attempt *attempt, bool executable);

#endif
