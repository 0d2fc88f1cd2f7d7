/*
 * The policy interface: what decides how many nodes each job of a machine has, and when. The built-in policies and a
 * user's own shared object (`epopsim --policy ./mine.so`) go through the same table. A policy is a function from a
 * state to a plan: it knows no clock, file or socket, and gives the same plan for the same state. Nothing here needs
 * MPI.
 *
 * Words: D. Feitelson and L. Rudolph, "Toward convergence in job schedulers for parallel supercomputers", 1996 (rigid,
 * moldable, malleable, evolving); MTCT: I. A. Compres Urena, TU Munich 2017, chapter 10.
 */
#ifndef EPOP_POLICY_H
#define EPOP_POLICY_H

#include <stdint.h>

#include <epop/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPOP_POLICY_ABI_VERSION 1u

/* ---- The state ---------------------------------------------------------------------------- */
/* Times are seconds on one clock, whose zero means nothing. What is not known is negative, unless it says otherwise. */

typedef enum epop_policy_kind {
    EPOP_RIGID,     /* runs at `wanted` nodes */
    EPOP_MOLDABLE,  /* the size is chosen at its start */
    EPOP_MALLEABLE, /* and may change while it runs */
    EPOP_EVOLVING   /* malleable, and the program asks for sizes by itself */
} epop_policy_kind_t;

typedef enum epop_policy_job_state {
    EPOP_POLICY_WAITS,
    EPOP_POLICY_RUNS,
    EPOP_POLICY_ADAPTS /* runs, and a resize that was decided has not committed */
} epop_policy_job_state_t;

/* Which node counts are accepted: `sizes`, ascending, from min to max; count 0: every one from min to max. */
typedef struct epop_policy_range {
    int min, max;
    const int *sizes;
    int count;
} epop_policy_range_t;

/* An element of the program, from the present one on. */
typedef struct epop_policy_phase {
    const char *name;
    int elastic; /* 0: rigid, no resize while it runs */
    epop_policy_range_t range;
    double begins; /* seconds from now, at the present size; 0: the present one */
} epop_policy_phase_t;

/* What was measured of an element at one size. Kept for all sizes that were seen. */
typedef struct epop_policy_sample {
    int phase; /* number of the element in the program (its pc, or the order of the phases) */
    int nodes;
    double iterations;       /* that were measured */
    double seconds;          /* for an iteration, mean */
    double mtct;             /* MPI time to compute time of the loop, mean since the last resize */
    double trend;            /* of MTCT: what its recent values lead to */
    double variance, lo, hi; /* of MTCT, over its recent values */
} epop_policy_sample_t;

typedef struct epop_policy_job {
    int64_t id;
    const char *name;
    int user;
    epop_policy_kind_t kind;

    int wanted;                /* nodes that its user asked for */
    epop_policy_range_t range; /* of a rigid job: min = max = wanted */
    double limit;              /* seconds that it takes at `wanted` nodes, as its user says */
    double bytes;              /* that a resize has to move */

    epop_policy_job_state_t state;
    double submitted;
    double started, resized; /* resized: when it got its present size, by its start or the last resize */
    int nodes;               /* at which it computes now; 0: it waits */
    int target;              /* ADAPTS: to; else as `nodes` */
    const int *node_list;    /* what it holds: max(nodes, target) numbers */
    /* Seconds that it still needs at `nodes` nodes (one that waits: at `wanted`), all phases: by its progress where it
     * reports that, else by its user's limit, which then is taken to scale linearly with the nodes. Above 0, also of a
     * job that should be over. */
    double left;
    double reserved; /* the start that it was promised first */
    int asked;       /* EVOLVING: nodes that the program asks for now; 0: nothing */

    const epop_policy_phase_t *phases; /* the present one and those ahead, as far as they are known */
    int phase_count;
    int phase; /* number of the present one, as in the samples */
    const epop_policy_sample_t *samples;
    int sample_count;
    double resize_cost;    /* seconds that its resizes made it stand still, mean */
    double resize_latency; /* seconds from decision to commit, mean */
    int resizes;           /* that committed */
} epop_policy_job_t;

typedef enum epop_policy_node_state { EPOP_NODE_IDLE, EPOP_NODE_BUSY, EPOP_NODE_DOWN } epop_policy_node_state_t;

typedef struct epop_policy_node {
    epop_policy_node_state_t state;
    int64_t job;                   /* BUSY: which holds it; else -1 */
    double idle_watts, busy_watts; /* 0: not known */
} epop_policy_node_t;

typedef struct epop_policy_state {
    double now;
    const epop_policy_node_t *nodes;
    int node_count;
    int idle;   /* nodes that a start or a growth may take now */
    int coming; /* nodes that shrinking jobs will give back when they commit */
    int down;
    const epop_policy_job_t *const *running; /* by start; those that adapt are among them */
    int running_count;
    const epop_policy_job_t *const *waiting; /* by submission */
    int waiting_count;
    /* What a resize is taken to cost where nothing was measured: stand-still seconds in all, for each node of the
     * larger world, and for each byte over the nodes of the smaller one. */
    double resize_base, resize_per_node, resize_per_byte;
    double power_cap; /* watts of all nodes; 0: none */
} epop_policy_state_t;

/* Non-zero if `nodes` is in the range. Pure. */
EPOP_HOST int epop_policy_accepts(const epop_policy_range_t *range, int nodes);

/* The largest accepted size <= `nodes`; 0: there is none. Pure. */
EPOP_HOST int epop_policy_fit(const epop_policy_range_t *range, int nodes);

/* ---- The plan ----------------------------------------------------------------------------- */
/*
 * What is to happen now. `reason` and what follows are as in printf; one short line that a user understands, with the
 * figures that decided. A call that cannot be carried out (a job that does not wait, a size that it does not accept,
 * more nodes than there are, a second decision on a job) is not taken, makes the plan invalid, and returns non-zero: a
 * plan that holds one is refused as a whole, in the policy's name. Which nodes are taken, or given back, is not the
 * policy's matter.
 */
typedef struct epop_plan epop_plan_t;

/* A waiting job starts now, on idle nodes. */
EPOP_HOST int epop_plan_start(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* A running malleable or evolving job that is not adapting gets another size, which its present phase, an elastic one,
 * accepts as well. A growth takes idle nodes at once; what a shrink gives back is idle when it has committed: not in
 * this plan. */
EPOP_HOST int epop_plan_resize(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* A waiting job will start at that time, at that size. A promise for users' eyes and for the state's `reserved`; it
 * holds until the next plan. */
EPOP_HOST int epop_plan_reserve(epop_plan_t *plan, const epop_policy_job_t *job, int nodes, double time,
                                const char *reason, ...) __attribute__((format(printf, 5, 6)));

/* Nodes that are idle still, after what the plan has. */
EPOP_HOST int epop_plan_idle(const epop_plan_t *plan);

/* Ask again at that time, which lies ahead, if nothing happens before. The earliest of several calls counts. */
EPOP_HOST void epop_plan_wake(epop_plan_t *plan, double time);

/* ---- The table ---------------------------------------------------------------------------- */

typedef struct epop_policy_option {
    const char *name;
    const char *value; /* its default, as text */
    const char *help;
} epop_policy_option_t;

/* `settings` is what `open` stored; the options are all that is in it. Every slot but `decide` may be NULL. */
typedef struct epop_policy {
    unsigned abi_version; /* EPOP_POLICY_ABI_VERSION */
    unsigned struct_size; /* sizeof(epop_policy_t): slots added later are absent in older policies */
    const char *name;
    const char *summary;                                                /* one line for --help */
    const epop_policy_option_t *options;                                /* ends with a NULL name; may be NULL */
    int (*open)(void **settings);                                       /* 0, or it cannot be used */
    int (*option)(void *settings, const char *name, const char *value); /* 0, or the value makes no sense */
    void (*decide)(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan);
    void (*close)(void *settings);
} epop_policy_t;

/* What a policy's shared object exports. */
EPOP_EXPORT const epop_policy_t *epop_get_policy(void);

#ifdef __cplusplus
}
#endif
#endif
