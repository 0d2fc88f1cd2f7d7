/*
 * The policy interface: a policy decides how many nodes each job of a machine has, and when.
 *
 * A policy is a table, built in or in a shared object of your own (`--policy ./mine.so`), which is linked with nothing:
 * the functions are in the executable that loads it. The same state must give the same plan. docs/reference/policies.md
 * shows how to write one, also in Python.
 *
 * Source: kinds of jobs: D. Feitelson and L. Rudolph, "Toward convergence in job schedulers for parallel
 * supercomputers", 1996; MTCT: Compres Urena 2017, chapter 10.
 */
#ifndef EPOP_POLICY_H
#define EPOP_POLICY_H

#include <stdint.h>

#include <epop/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the table; another one is refused. */
#define EPOP_POLICY_ABI_VERSION 3u

/* ---- The state ---------------------------------------------------------------------------- */
/* Times are seconds on a clock of the machine. Unknown numbers are negative unless something else is said. The state is
 * valid during the call. */

/* What may be done with the size of a job. */
typedef enum epop_policy_kind {
    EPOP_RIGID,     /* runs at `wanted` nodes */
    EPOP_MOLDABLE,  /* the size is chosen at its start */
    EPOP_MALLEABLE, /* and may change while it runs */
    EPOP_EVOLVING   /* and the program asks for sizes */
} epop_policy_kind_t;

/* The state of a job. */
typedef enum epop_policy_job_state {
    EPOP_POLICY_WAITS,
    EPOP_POLICY_RUNS,
    EPOP_POLICY_ADAPTS /* runs, and is being resized; or it balances, if its target is what it has */
} epop_policy_job_state_t;

/* Accepted numbers of nodes: `sizes`, ascending, or, if `count` is 0, all from `min` to `max`. */
typedef struct epop_policy_range {
    int min, max;
    const int *sizes;
    int count;
} epop_policy_range_t;

/* An element of the program. */
typedef struct epop_policy_phase {
    const char *name;
    int elastic; /* 0: no resize while it runs */
    epop_policy_range_t range;
    double begins; /* in so many seconds; 0: the present one */
} epop_policy_phase_t;

/* Numbers of phases from here on are those of loops, which were found in a program that says nothing of its phases. */
#define EPOP_POLICY_LOOPS 1000000

/* What was measured in an element, or a loop, at one size. */
typedef struct epop_policy_sample {
    int phase; /* number of the element in the program; or EPOP_POLICY_LOOPS and the number of the loop */
    int nodes;
    /* Measured since the job has this size, or when it had it last. With weak scaling one is a rank's share of the
     * iteration of all, so that seconds are those of as much work at every size. */
    double iterations;
    double seconds;          /* of one, mean of the recent past */
    double mtct;             /* MPI time to compute time, mean since the last resize */
    double trend;            /* of its recent values */
    double variance, lo, hi; /* of its recent values */
    double imbalance;        /* the longest that a rank had to compute over the mean, last; below 1: not known */
} epop_policy_sample_t;

/* A job. */
typedef struct epop_policy_job {
    int64_t id;
    const char *name;
    int user;
    epop_policy_kind_t kind;

    int wanted;                /* nodes that the user asked for */
    epop_policy_range_t range; /* of a rigid job: `wanted` alone */
    double limit;              /* seconds at `wanted` nodes, as the user says */
    double bytes;              /* that a resize has to move */

    epop_policy_job_state_t state;
    double submitted;
    double started, resized; /* the latter: its last resize, or its start */
    int nodes;               /* on which it computes; 0: it waits */
    int target;              /* of a resize; else as `nodes` */
    const int *node_list;    /* what it holds, by rank: the larger of these two */
    /* Seconds that it still needs at `nodes` (or, if it waits, at `wanted`), by its progress or else by `limit`, scaled
     * linearly. Above 0 even if it should be over. */
    double left;
    double reserved; /* the start that it was promised first */
    int asked;       /* nodes that an evolving job asks for; 0: none */

    const epop_policy_phase_t *phases; /* from the present one on, as far as known */
    int phase_count;
    int phase; /* what samples of the present one, or of the loop that the job is in, have as theirs */
    const epop_policy_sample_t *samples;
    int sample_count;
    double resize_cost;    /* seconds that it stood still for a resize, mean */
    double resize_latency; /* seconds from decision to commit, mean */
    int resizes;           /* that committed */
    int64_t earlier; /* a job of the same program, of which samples are that this one has not taken yet; 0: none */
    /* When it would run under EASY backfilling, with every job at `wanted`, for policies that follow it; easy_end is
     * after `now`, or it has ended there. */
    double easy_start, easy_end;
    int priority;        /* the higher, the earlier in the queue */
    int leaves;          /* leaf switches that it computes below; 0: not known, or it waits */
    double speed;        /* of the slowest node that it computes on; 1: it waits */
    const char *account; /* that it is counted for; NULL: there are no shares */
    double usage; /* what its account has used of all that was used, over its share of the machine: above 1 it is over
                     its share; 0: nothing was used, or there are no shares */
    double deadline; /* when its user wants it to have ended; 0: nothing was said */
    /* Non-zero: its present phase has weak scaling, and as many iterations at every size: `left` is the same at each,
     * and what more nodes bring is work. */
    int weak;
} epop_policy_job_t;

/* What a job has under EASY backfilling, now or later. */
typedef struct epop_policy_use {
    const epop_policy_job_t *job; /* NULL: it has ended in truth */
    double begin, end;
    int nodes;
} epop_policy_use_t;

/* The state of a node. */
typedef enum epop_policy_node_state { EPOP_NODE_IDLE, EPOP_NODE_BUSY, EPOP_NODE_DOWN } epop_policy_node_state_t;

/* A node. */
typedef struct epop_policy_node {
    epop_policy_node_state_t state;
    int64_t job;                   /* that holds it; -1: none */
    double idle_watts, busy_watts; /* 0: not known */
    int leaf;                      /* number of the switch that it is right below; -1: not known */
    double speed;                  /* relative to the usual one: a job computes at that of its slowest node */
} epop_policy_node_t;

/* A switch, above nodes or other switches. */
typedef struct epop_policy_switch {
    const char *name;
    int parent; /* number of the switch above it; -1: none */
} epop_policy_switch_t;

/* The state of the machine. */
typedef struct epop_policy_state {
    double now;
    const epop_policy_node_t *nodes;
    int node_count;
    int idle;   /* nodes that can be taken now, as far as the power cap allows */
    int coming; /* nodes that shrinking jobs will give back */
    int down;
    const epop_policy_job_t *const *running; /* sorted by start; adapting ones, too */
    int running_count;
    const epop_policy_job_t *const *waiting; /* in the order of the queue: the highest priority first, ... */
    int waiting_count;
    /* Assumed seconds of a resize that was never measured: for each resize, each node of the larger world, and each
     * byte per node of the smaller world. */
    double resize_base, resize_per_node, resize_per_byte;
    double power_cap; /* watts, 0: none */
    /* The schedule that EASY backfilling would give the same jobs: those that are not over there, as far as it is
     * planned. For policies that follow it (follows_easy). */
    const epop_policy_use_t *easy_uses;
    int easy_count;
    const epop_policy_switch_t *switches; /* those of a topology file, in its order */
    int switch_count;                     /* 0: there is none */
    double spread_cost; /* share by which an iteration is taken to last longer for each leaf switch that a job has more
                           than it needs */
    int usable;         /* nodes that can be busy at a time: those that are not down, as far as the power cap allows */
} epop_policy_state_t;

/* Returns non-zero if `nodes` is accepted. Local. */
EPOP_HOST int epop_policy_accepts(const epop_policy_range_t *range, int nodes);

/* Returns the largest accepted size up to `nodes`, or 0 if there is none. Local. */
EPOP_HOST int epop_policy_fit(const epop_policy_range_t *range, int nodes);

/* ---- The plan ----------------------------------------------------------------------------- */

/* What is to happen now, with at most one decision on each job. `reason`, as for printf, is a line for users with the
 * figures that decided. A call that is not possible returns non-zero and makes the plan invalid: it is refused as a
 * whole. */
typedef struct epop_plan epop_plan_t;

/* Starts a waiting job now, on idle nodes. Local. */
EPOP_HOST int epop_plan_start(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* Resizes a running job that is malleable or evolving, does not adapt, and is in an elastic phase that accepts the
 * size. It grows onto idle nodes; what it gives back is idle when the resize has committed, and not in this plan.
 * Local. */
EPOP_HOST int epop_plan_resize(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* What comes of a move. */
typedef struct epop_policy_move {
    int nodes;    /* that the job has meanwhile */
    int leaves;   /* leaf switches that it is below then */
    double saves; /* share of its time that it takes less from then on, by the spread_cost */
} epop_policy_move_t;

/* Whether a running job that may be resized now can be moved below fewer leaf switches, onto nodes that are idle after
 * this plan: it grows, and then shrinks to the nodes that it has now. Returns 0 if so. Local. */
EPOP_HOST int epop_plan_moved(const epop_plan_t *plan, const epop_policy_job_t *job, epop_policy_move_t *move);

/* Moves it: once it has grown, it is shrunk before the policy is asked again, where its phase allows that, unless the
 * policy resizes it first. Local. */
EPOP_HOST int epop_plan_move(epop_plan_t *plan, const epop_policy_job_t *job, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* Promises a waiting job a start at `time`, until the next plan. Local. */
EPOP_HOST int epop_plan_reserve(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, double time,
                                const char *reason, ...) __attribute__((format(printf, 5, 6)));

/* Returns how many nodes are still idle after this plan. Local. */
EPOP_HOST int epop_plan_idle(const epop_plan_t *plan);

/* Asks for another call at `time`, if nothing happens before; the earliest time counts. Local. */
EPOP_HOST void epop_plan_wake(epop_plan_t *plan, double time);

/* ---- The table ---------------------------------------------------------------------------- */

/* An option of a policy. */
typedef struct epop_policy_option {
    const char *name;
    const char *value; /* its default, as text */
    const char *help;
} epop_policy_option_t;

/* A policy. `name` and `decide` are mandatory; `settings` is what `open` stored. */
typedef struct epop_policy {
    unsigned abi_version; /* EPOP_POLICY_ABI_VERSION */
    unsigned struct_size; /* sizeof(epop_policy_t) */
    const char *name;
    const char *summary;                                                /* one line for --help */
    const epop_policy_option_t *options;                                /* ends with a NULL name; may be NULL */
    int (*open)(void **settings);                                       /* 0, or it cannot be used */
    int (*option)(void *settings, const char *name, const char *value); /* 0, or the value makes no sense */
    /* Fills the plan. It must keep no pointers, nor change what its next call sees. */
    void (*decide)(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan);
    void (*close)(void *settings);
    /* Non-zero: the state is to have the schedule of EASY backfilling, from the first job on that is not rigid. May be
     * NULL. */
    int (*follows_easy)(const void *settings);
} epop_policy_t;

/* Every policy exports it. The table belongs to the policy and is copied. Local. */
EPOP_EXPORT const epop_policy_t *epop_get_policy(void);

#ifdef __cplusplus
}
#endif
#endif
