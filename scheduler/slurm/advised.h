/* Malleable jobs as the adviser knows them: who is connected, what they said, what they were asked. Nothing of it has
 * to survive the adviser: Slurm and the jobs know it, too. */
#ifndef SCHEDULER_SLURM_ADVISED_H
#define SCHEDULER_SLURM_ADVISED_H

#include <cjson/cJSON.h>
#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scheduler/core/balance.h"
#include "scheduler/core/core.h"
#include "scheduler/core/sample.h"
#include "scheduler/slurm/peer.h"
#include "scheduler/slurm/view.h"

/* ---- What a job has said of itself -------------------------------------------------------------- */

/* In answers to `status` and `measure`, as figures that policies want to know. */

#define TOLD_SIZES 1024

struct told {
    bool known;         /* a status has come */
    bool joins;         /* it can take processes of other nodes */
    int ranks;          /* at which it computes */
    int slots;          /* ranks for a node: the most that any of its nodes has */
    int pc;             /* of the present element; -1: in none */
    int loop;           /* that counts, of a program that says nothing of its phases; 0: none */
    bool elastic;       /* it can be resized now */
    bool weak;          /* it does more work with more ranks, and takes as long */
    struct hints hints; /* of its process sets */
    int preferred;      /* ranks; 0: it has no wish */
    int listed;         /* sizes beyond that are not known, and taken to be accepted */
    bool accepts[TOLD_SIZES + 1];
    double left;           /* seconds; negative: not known */
    double resized;        /* when it last changed its size, since 1970; negative: never */
    double latency, stall; /* of its adaptations, mean; negative: none was */
    char **hosts;          /* on which it has ranks, without a domain */
    int host_count;
    size_t host_room;
    struct samples samples; /* nodes: ranks still */
    bool balances;          /* a balance may help it */
    struct balance_rule balance;
    double change; /* of the last answer to `measure`, as samples_add tells it; 0: none */
    bool failed;   /* no memory for a sample */
};

/* Of the answer's `job`, and `measure`. What makes no sense is left out. -1: no memory. */
int told_status(struct told *told, const cJSON *status);
int told_measure(struct told *told, const cJSON *measure);

/* What samples of what the job does at present have as their phase. */
int told_phase(const struct told *told);

bool told_accepts(const struct told *told, int ranks);
bool told_runs_on(const struct told *told, const char *host);

/* ---- Malleable jobs ----------------------------------------------------------------------------- */

enum ask_kind { ASK_NOTHING, ASK_STATUS, ASK_MEASURE, ASK_GROW, ASK_SHRINK, ASK_BALANCE, ASK_EARLIER };

/* One request at a time. */
struct ask {
    enum ask_kind kind; /* EARLIER: of an adviser that has died; what it was is not known */
    int64_t id;
    double sent;           /* monotonic */
    struct hostlist nodes; /* GROW, SHRINK */
    int from, to;          /* nodes */
    double stall;          /* BALANCE: seconds, once it has committed */
};

struct advised {
    int64_t id;
    struct peer *peer; /* NULL: not connected */
    bool attached;     /* its control plane answers */
    struct told told;
    uid_t uid;     /* whose, with `program` */
    char *program; /* and its arguments, as history_program has them; NULL: not known yet */
    struct ask ask;
    double look_at;                        /* monotonic: when it is asked for its status again */
    double no_grow_until, no_shrink_until; /* monotonic: it has refused */
    int refusals;                          /* in a row */
    char reason[DECISION_REASON_MAX];      /* of the last decision */
    struct advised *next;
};

/* The starts that pending jobs were promised first, since 1970. */
struct promise {
    int64_t job;
    double start;
};

struct advised_table {
    struct advised *first;
    struct promise *promises;
    size_t promise_count, promise_room;
};

/* NULL: there is none. */
struct advised *advised_find(const struct advised_table *table, int64_t job);
/* The one there is, or a new one. NULL: no memory. */
struct advised *advised_get(struct advised_table *table, int64_t job);
void advised_remove(struct advised_table *table, struct advised *job);
void advised_free(struct advised_table *table);

/* A resize of it is under way, or may be; or a balance. */
bool advised_is_busy(const struct advised *job);
/* It is connected, and what it says makes it one that can be resized. */
bool advised_is_ready(const struct advised *job);

/* It was answered. */
void ask_over(struct ask *ask);
/* Nobody waits for its answer any more. */
void advised_ask_lost(struct advised *job);

/* 0: none. */
double advised_promise(const struct advised_table *table, int64_t job);
/* The first one counts. */
void advised_promised(struct advised_table *table, int64_t job, double start);

#endif
