/*
 * One start of a job under `epop --recover`: from mpiexec's start to the moment when nothing of it runs here. The job
 * says where it is, and how it ends (runtime/control/supervisor.h). Each start has a socket and a secret of its own, so
 * that what is left of the last one is not heard.
 */
#ifndef DRIVER_RECOVER_ATTEMPT_H
#define DRIVER_RECOVER_ATTEMPT_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "runtime/control/supervisor.h"
#include "runtime/wire/proof.h"

enum { WORDS_TEXT = 420, WORDS_SAVED = 4 };

enum word { WORD_NONE, WORD_ENDED, WORD_FAILED, WORD_FAULT, WORD_FITS };

/* Where it was last. */
struct words_place {
    unsigned long long count; /* probes */
    int size, pc;
    long long iteration;
};

/* What it was started again from. */
struct words_state {
    char from[24]; /* "memory", "file" or "beginning"; "": it does not run yet */
    int number;
    double time;
};

/* A whole checkpoint, made by this start. */
struct words_saved {
    int number; /* 0: there is none */
    unsigned long long count;
};

struct caller;

/* What the job says, and by whom. */
struct words {
    struct event_base *base; /* all is heard while it runs */
    struct wire_listener *here, *network;
    char path[400], token[PROOF_MAX];
    TAILQ_HEAD(callers, caller) callers;
    struct caller *chief; /* process 0's connection; NULL: there is none (any more) */
    bool started, begun;  /* process 0 has, before it has MPI; and then */
    enum word word;       /* the first */
    int status;
    char text[WORDS_TEXT];
    int lost;                     /* the rank that died; -1: that is not known */
    char hosts[SUPERVISOR_HOSTS]; /* where the ranks run; "": not known */
    struct words_place place;
    struct words_state state;
    struct words_saved saved[WORDS_SAVED]; /* the newest first */
};

struct attempt {
    struct words words;
    int signals; /* a signalfd for SIGCHLD and those that end a job */
    pid_t mpiexec;
    int status;                  /* mpiexec's, as of waitpid; counts when it has ended */
    int failure;                 /* of mpiexec itself: no process that it starts ends with that status; 0: not known */
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

/* Sets EPOP_SUPERVISOR in this process's environment. anywhere: also other hosts are heard. The structure stays where
 * it is until attempt_hang_up. 0, or -1 with text. */
int attempt_listen(struct words *words, bool anywhere, struct error *error);
/* What was heard stays. */
void attempt_hang_up(struct words *words);

/* To process 0. */
void attempt_tell(const struct words *words, const cJSON *message);

/* Starts the command (argv[0] is a path), and waits until it has ended or died; what it left is ended then. False: it
 * could not be started, with text. */
bool attempt_run(struct attempt *attempt, char **argv, struct error *error);

/* Was this process told to end? While no attempt runs. */
bool attempt_told(int signals);

/* Has it died by a fault? Else it is over, with that status. */
bool attempt_died(const struct attempt *attempt, bool first);
int attempt_status(const struct attempt *attempt, bool executable);

#endif
