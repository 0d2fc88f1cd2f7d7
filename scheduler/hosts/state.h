/*
 * The daemon of a list of hosts: what it knows. Nodes and jobs as the core has them by number, and beside that what it
 * takes to carry decisions out: hosts, attendants, how far each resize is. All of it that matters is in the journal,
 * before anything is done.
 */
#ifndef SCHEDULER_HOSTS_STATE_H
#define SCHEDULER_HOSTS_STATE_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "epop_api/sizes.h"
#include "runtime/base/error.h"
#include "scheduler/core/core.h"
#include "scheduler/core/sample.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/hosts/attend_client.h"
#include "scheduler/hosts/hosts.h"
#include "scheduler/journal/journal.h"

struct check;
struct power_meter;
struct waking;

enum { HOSTS_REASON_MAX = 240 };

enum hosts_power { HOSTS_ON, HOSTS_OFF, HOSTS_WAKES };

struct hosts_node {
    char *name, *host;
    char *known; /* what the host calls itself; NULL: it was not reached yet */
    int slots;
    int first, parts; /* the nodes of its host: the number of the first, and how many they are */
    bool up, drained;
    bool suspect; /* something failed there: it is to be looked at */
    char reason[HOSTS_REASON_MAX];
    double since;
    int64_t job;                   /* that holds it; -1: none */
    double idle_watts, busy_watts; /* 0: not known */
    double speed;                  /* relative, by --speeds */
    enum hosts_power power;        /* it was switched off, or is being switched on */
    struct waking *waking;         /* the command that does it; NULL: none runs */
    double idle_since;             /* 0: not looked at yet */
};

enum hosts_state { JOB_WAITING, JOB_STARTING, JOB_RUNNING, JOB_ADAPTING, JOB_ENDING };

struct hosts_resize {
    int64_t id; /* 0: none goes on */
    enum journal_step step;
    int from, to;
    int *nodes; /* that it takes or gives back */
    int count;
    double decided, committed, stall;
    bool sent;    /* on this connection */
    bool stuck;   /* it did not come to an end in time: its nodes are held until the job ends */
    bool lingers; /* committed, but not all that left has ended */
    bool *gone;   /* by place in `nodes`: those that have nothing of the job any more */
    struct event *limit;
};

/* What a status says, as the core is told it. */
struct hosts_program {
    bool known;
    bool grows;                  /* its MPI can add processes, or has some that stand by */
    struct hints hints;          /* of its process sets */
    epop_policy_range_t range;   /* in nodes; its sizes are owned */
    int preferred;               /* nodes; 0: it has no wish */
    epop_policy_phase_t *phases; /* owned, with names and sizes */
    int phase_count;
};

struct hosts_job {
    struct hosts *hosts;
    int64_t number;
    char *name, *cwd, *output, *directory;
    char **argv, **environment; /* end with NULL */
    int ranks_min, ranks_max, nodes_min, nodes_max, wanted;
    double limit;              /* seconds at `wanted` nodes; 0: none was given */
    struct sizes_rule *rule;   /* which numbers of ranks it accepts, by EPOP_SIZES; NULL: any */
    epop_policy_range_t range; /* before its program has said what it accepts; its sizes are owned */
    int64_t *after;            /* jobs that have to end before */
    int after_count;
    double deadline; /* when it is wanted to have ended; 0: nothing was said */
    bool drop_late;  /* it is given up when it cannot meet that any more, and ended at that time */
    char *account;   /* that it is counted for, as its user says; "": nothing was said */
    int priority;    /* the higher, the earlier in the queue */
    bool on_hold;    /* it comes into the queue when it is released */
    bool leaves;     /* it is being saved, and will wait again */
    char *saved;     /* the checkpoint that it goes on from; NULL: it begins anew */
    bool once;
    bool pool; /* all its processes are there from the start */
    epop_policy_kind_t kind;
    enum hosts_state state;
    char reason[HOSTS_REASON_MAX]; /* of the last decision on it */
    double submitted, started;
    double reserved;      /* that it was promised; negative: not */
    int *nodes;           /* that it holds, in the order of its ranks */
    int held, size;       /* of these it computes on the first `size` */
    int moves_at;         /* the size that it had before it left drained nodes; 0: it does not */
    double used, used_at; /* seconds of its limit, until then */
    const char *outcome; /* what it is when it ends because we ended it: "cancelled", "failed"; NULL: its status says */
    char why[HOSTS_REASON_MAX];
    struct attend_client attendant;
    bool greeted, attached; /* the attendant said hello; it reaches the job's control plane */
    struct hosts_resize resize;
    struct hosts_program program;
    bool balances; /* a balance may help it, as it says */
    struct {
        int64_t id; /* of the request; 0: none goes on */
        double stall;
    } balance;
    int phase;          /* that the core was told last; -1: none */
    int samples;        /* at this size and phase */
    int refusals;       /* one after the other */
    double quiet_until; /* it refused: no resize is decided until then */
    double joules;      /* that its nodes have used */
    struct event *measure, *patience;
    int64_t asked_status, asked_measure, asked_checkpoint; /* ids; 0: none */
    bool watched, told_to_stop; /* nothing it said was missed since it was to end; it has heard of it */
    int loop;                   /* that counts, of a program that says nothing of its phases; 0: none */
    struct hosts_job *next;
};

struct hosts {
    struct event_base *base;
    struct journal *journal;
    struct core *core;
    struct policy policy;
    struct daemon_listener listener;
    const struct hosts_options *options;
    char *directory;
    bool local; /* all nodes are on this machine, with no launcher */
    bool joins; /* its MPI can connect processes */
    int slots;  /* of each node */
    struct hosts_node *nodes;
    int node_count;
    struct topology topology; /* by --topology */
    struct hosts_job *jobs;   /* that have not ended, by number */
    struct hosts_job *over;   /* that have ended, and are still looked at */
    bool news;                /* something changed: the policy is to be asked */
    bool stopping, leaving;   /* it ends when there are no jobs; at once, and they run on */
    bool ends;                /* now */
    struct event *decide, *terminated, *interrupted, *wake, *checks, *tick;
    struct check **checking;     /* by the first node of each host: being reached */
    double check_pause;          /* until those that are down are tried again */
    double wall, monotonic;      /* of the same moment: the clock of the core does not go back */
    int64_t last_id;             /* of a request to an attendant */
    struct power_meter *meter;   /* of this machine's processors; NULL: energy is known by watts */
    double suspend_after;        /* seconds; 0: no node is switched off */
    double power_at, power_kept; /* until when jobs' energy is counted; is in the journal */
    struct error error;          /* why it cannot go on */
};

/* ---- Clock, timers and failure ------------------------------------------------------------------- */

/* Seconds since 1970, never less than before. */
double hosts_now(const struct hosts *hosts);

/* Something has changed: the policy is asked when all that is there has been heard. */
void hosts_news(struct hosts *hosts);
/* The daemon ends: the loop is left. */
void hosts_over(struct hosts *hosts);

/* What must not fail for the daemon to go on: the journal, memory, the core's books. Ends the loop. */
void hosts_must(struct hosts *hosts, int result, const struct error *error);

/* The timer, which is made where it is not there yet, rings in so many seconds. */
void hosts_timer(struct hosts *hosts, struct event **timer, event_callback_fn ring, void *context, double seconds);
/* NULL: it was never set. */
void hosts_timer_stop(struct event *timer);

/* An id for a request that is not a resize. */
int64_t hosts_id(struct hosts *hosts);

/* For tests: with EPOPRM_STOP_AT=`step` the daemon stops itself here. */
void hosts_stop_at(const char *step);

/* ---- Events: written down, and told to those who watch ------------------------------------------- */

/* As the journal has it: "waiting" ... */
const char *hosts_state_text(enum hosts_state state);

/* All that an event has; its time is now. */
void hosts_tell_event(struct hosts *hosts, struct journal_event event);

/* An event without job, or of one that stays as it is. */
void hosts_tell(struct hosts *hosts, int64_t job, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The job is in this state from now on, in the journal, too. */
void hosts_tell_state(struct hosts_job *job, enum hosts_state state, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Nodes -------------------------------------------------------------------------------------- */

struct hosts_node *hosts_node_named(struct hosts *hosts, const char *name);

/* As options name it: with all nodes of its host. */
const char *hosts_node_called(const struct hosts *hosts, int node);

/* How many of these nodes are of its host. */
int hosts_node_parts(const struct hosts *hosts, int node, const int *nodes, int count);

/* The hosts of these nodes as mpiexec is told them, each once: "n1:4,n2:8". The caller's to free. */
char *hosts_list(const struct hosts *hosts, const int *nodes, int count);

/* "n1,n2", the caller's to free; never NULL but for want of memory. */
char *hosts_names(const struct hosts *hosts, const int *nodes, int count);

/* Ranks at so many nodes, and nodes of so many ranks. */
int hosts_jobs_ranks(const struct hosts_job *job, int nodes);
int hosts_jobs_nodes(const struct hosts *hosts, int ranks);

/* The rule by EPOP_SIZES of an environment: 1; 0: it has none; -1: an error says why it is none. */
int hosts_jobs_rule(const char *const *environment, struct sizes_rule *rule, struct error *error);

/* Seconds for which its limit lets it run at its present size; infinite without a limit. */
double hosts_jobs_limit_left(const struct hosts_job *job, double now);

/* By journal or by hand: the nodes that a job holds, in the order of its ranks. */
void hosts_jobs_hold(struct hosts_job *job, const int *nodes, int count);
/* They are no longer its own. The others keep their order. */
void hosts_jobs_give(struct hosts_job *job, const int *nodes, int count);

/* ---- Jobs --------------------------------------------------------------------------------------- */

/* A copy of what the journal has; waits. NULL: no memory. */
struct hosts_job *hosts_jobs_add(struct hosts *hosts, const struct journal_job *from);
/* NULL: there is none. */
struct hosts_job *hosts_jobs_find(const struct hosts *hosts, int64_t number);

/* It has ended, and must not be used any more; its memory goes with hosts_jobs_sweep, as who is called on its behalf
 * may still look at it. */
void hosts_jobs_over(struct hosts_job *job);
void hosts_jobs_sweep(struct hosts *hosts);
void hosts_jobs_free(struct hosts *hosts);

/* What a running program accepts, in nodes, by its status. True: it is other than what was known. */
bool hosts_program_read(struct hosts_job *job, const cJSON *status);

/* Submits the job to the core, as of then and as what it is so far, or tells the core what has turned out. */
int hosts_jobs_submit(struct hosts_job *job, double when, struct error *error);
void hosts_jobs_learned(struct hosts_job *job);
/* Its deadline is another one, and so may be what it is taken to need. */
void hosts_jobs_deadline(struct hosts_job *job);

#endif
