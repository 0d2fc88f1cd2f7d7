/*
 * What a daemon of epoprm can do for its commands: a table of functions, which the server calls when a client asks. The
 * site of hosts and the site of Slurm each have such a table; a function that a site does not have is NULL. All is on
 * the daemon's one thread, and nothing waits: what takes its time is told by events.
 */
#ifndef SCHEDULER_DAEMON_DAEMON_H
#define SCHEDULER_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/journal/journal.h"

/* A job as it is submitted; the daemon copies what it keeps. */
struct submission {
    const char *name;        /* NULL: the program's */
    const char *const *argv; /* PROGRAM ARGS; ends with NULL */
    const char *cwd;
    const char *const *environment; /* K=V; ends with NULL */
    const char *output;             /* absolute; NULL: `output` in the job's directory */
    int ranks_min, ranks_max;       /* 0: not given */
    int nodes_min, nodes_max;       /* 0: what the ranks say */
    double limit;                   /* seconds at the most nodes that it takes; 0: the daemon's default */
    bool once;                      /* run as it is, on the first node */
    const int64_t *after;           /* jobs that have to end well before; ends with 0; NULL: none */
    int priority;                   /* the higher, the earlier in the queue */
    const char *account;            /* that it is counted for; NULL: its user's */
    double deadline;                /* seconds since 1970, when it is wanted to have ended; 0: nothing is said */
    bool drop_late;                 /* it is given up when it cannot meet that any more, and ended at that time */
    bool held;                      /* it comes into the queue when it is released */
};

/* Times are seconds since 1970, and negative where there is none. Texts are the daemon's, until it goes on. */
struct daemon_job {
    int64_t number;
    const char *name, *kind; /* "rigid", "moldable", "malleable", "evolving" */
    const char *state;       /* as in the journal: "waiting" ... "adapting" ... */
    const char *reason;      /* of the last decision on it; "" */
    int ranks_min, ranks_max, nodes_min, nodes_max;
    int nodes, target; /* at which it computes, 0: it waits; to which it adapts, else the same */
    int ranks;
    const char *hosts; /* names of the nodes that it holds, "n1,n2", in the order of its ranks; "" */
    double submitted, started;
    double limit;    /* seconds */
    double left;     /* seconds that it still needs */
    double reserved; /* the start that it was promised */
    double joules;   /* that its nodes have used; 0: not known */
    int leaves;      /* leaf switches that it computes below; 0: not known */
    int priority;
    const char *account; /* that it is counted for; NULL or "": nothing was said, and there are no shares */
    double deadline;     /* 0: none */
    bool drop_late;
    double usage; /* that its account has, as in epop_policy_job_t; negative: there are no shares */
    bool held;    /* it waits to be released */
};

struct daemon_node {
    const char *name, *host, *state; /* "idle", "busy", "drain", "down" */
    const char *reason;              /* why it is down or drained; "" */
    int slots;
    int64_t job; /* -1: none */
    double since;
    double watts;     /* that it draws now; 0: not known */
    double speed;     /* relative; 0: not known */
    const char *leaf; /* the switch that it is right below; NULL: not known */
};

enum { DAEMON_ACCOUNT_MAX = 100 }; /* bytes of a name */

enum daemon_stop {
    DAEMON_STOP_IDLE,  /* refused while jobs run or wait */
    DAEMON_STOP_JOBS,  /* cancels all, and ends when they have ended */
    DAEMON_STOP_LEAVE, /* they run on; the next daemon of this directory takes them over */
};

enum { DAEMON_PRIORITY_MAX = 1000000 }; /* and as far below 0 */

/* What a job's user says of it from now on; NULL: as before. */
struct daemon_change {
    const int *priority;
    const char *account;    /* of one that waits */
    const double *deadline; /* 0: none */
    bool drop_late;         /* with a deadline: also that; false: as before */
};

/* Those that return int: 0, or -1 with a line; ERROR_REFUSED: exit code 1, ERROR_FAILED with `unknown` set: 3. */
struct daemon_table {
    int (*submit)(void *context, const struct submission *submission, int64_t *number, struct error *error);
    int (*cancel)(void *context, int64_t job, bool *unknown, struct error *error);
    int (*drain)(void *context, const char *node, bool undo, bool *unknown, struct error *error);
    int (*stop)(void *context, enum daemon_stop how, struct error *error);
    /* Keeps a job that waits out of the queue, or lets it in again. */
    int (*hold)(void *context, int64_t job, bool held, bool *unknown, struct error *error);
    /* Saves a running job, which waits then. */
    int (*requeue)(void *context, int64_t job, bool held, bool *unknown, struct error *error);
    int (*change)(void *context, int64_t job, const struct daemon_change *change, bool *unknown, struct error *error);
    /* Calls `each` for all jobs that wait or run, by number, and for all nodes. */
    void (*jobs)(void *context, void (*each)(void *to, const struct daemon_job *job), void *to);
    void (*nodes)(void *context, void (*each)(void *to, const struct daemon_node *node), void *to);
};

/* Who hears of events, each a line of `watch`: the server, for those who watch. */
struct daemon_listener {
    void (*tell)(void *context, const struct journal_event *event);
    void *context;
};

#endif
