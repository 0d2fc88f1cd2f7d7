/*
 * What the policy `gain` knows of one job: how it speeds up with the nodes that it has, what a resize costs it, which
 * sizes the plan may give it, and the times that follow from that.
 */
#ifndef SCHEDULER_POLICIES_GAIN_MODEL_H
#define SCHEDULER_POLICIES_GAIN_MODEL_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Options ------------------------------------------------------------------------------------ */

struct gain_options {
    double factor;         /* what a growth saves has to be this many times what it costs */
    double margin;         /* and what a start saves by others' shrinking, this many times what they lose */
    double stay;           /* seconds that a job is left at a size, at least */
    double stay_costs;     /* and this many times what a resize costs it */
    double slack;          /* of the wait that is promised to the first job of the queue, for what may delay it */
    double ahead;          /* seconds before a phase in which nodes are given back for it */
    double efficiency;     /* taken at `wanted` nodes where nothing was measured */
    double marginal;       /* speedup that each further node has to bring */
    double firm;           /* 1: starts are held against those of EASY backfilling; 0: not */
    double keep;           /* share of what that leaves idle which is for jobs that come */
    double gather;         /* 1: jobs are moved below fewer switches; 0: they are not */
    double fairness;       /* 0: users are not looked at; 1: who holds twice the share counts half */
    struct gain_fit *fits; /* GAIN_FITS of them, those found last; NULL: they are not kept */
};

extern const epop_policy_option_t gain_option_list[];

/* The defaults. NULL: no memory. */
struct gain_options *gain_options_new(void);
void gain_options_free(struct gain_options *options);

/* The value of an option is a decimal number, and no more than that. */
bool gain_number(const char *value, double *number);

/* -1: there is no such option, or the value makes no sense. */
int gain_options_set(struct gain_options *options, const char *name, const char *value);

/* ---- How a job speeds up ------------------------------------------------------------------------ */

/*
 * Fitted to what was measured of it: Amdahl's law from two sizes on, or Downey's model where that fits three or more
 * better; the time in MPI where only one size was seen; else what the user's request implies.
 */

enum gain_source { GAIN_ASSUMED, GAIN_FROM_MTCT, GAIN_FROM_SIZES };

struct gain_model {
    double share;              /* of the work that does not speed up (Amdahl) */
    double parallelism, sigma; /* Downey's A and sigma; parallelism 0: it is Amdahl's law */
    enum gain_source source;
};

/* A fit is costly, and most jobs' samples are the same at the next decision: the place of one follows from these. */
#define GAIN_FITS 8192

struct gain_fit {
    uint64_t of; /* the samples; 0: none yet */
    struct gain_model model;
};

/* Of the present phase. `efficiency`: at `wanted` nodes where nothing was measured. `fits`: GAIN_FITS of them, looked
 * at first, and kept; NULL: none. */
struct gain_model gain_model_fit(const epop_policy_job_t *job, double efficiency, struct gain_fit *fits);

/* Over one node; `nodes` is 1 or more. */
double gain_speedup(const struct gain_model *model, int nodes);

/* ---- A job as it is planned with ---------------------------------------------------------------- */

#define GAIN_REASON 160

/* One that runs, or one that this plan starts. */
struct gain_job {
    const epop_policy_job_t *job;
    struct gain_model model;
    int from;        /* nodes before the plan; 0: it starts */
    int nodes;       /* in the plan */
    int trial;       /* what is being looked at */
    int useful;      /* with weak scaling: more than its user wants makes work grow alone; else none does */
    int least;       /* that it may have; 0: there is no such size */
    int top;         /* at most at its start: what its user wants, or the accepted size next to it */
    const char *why; /* of a start */
    bool held;       /* starts as soon as others have given back what it waits for */
    bool movable;    /* its size may be changed now */
    double bound;    /* seconds until it may, as it has not been at its size for long; 0: that is not why */
    bool ending;     /* the next phase is near: its range counts, too */
    double near;     /* seconds before a phase at which that is so */
    double speed;    /* at `nodes` */
    double work;     /* that is left and was asked for: seconds on one node */
    double usual;    /* what its resizes should have taken, by the site's rule: seconds; 0: it was at no other size */
    double weight;
    double until; /* seconds to its deadline; 0: it has none that it can meet */
    double latency;
    char reason[GAIN_REASON];
};

struct gain_job gain_job_of(const epop_policy_job_t *job, const epop_policy_state_t *state,
                            const struct gain_options *options);

/* Seconds that a resize between these two sizes, either way, makes it stand still: by the site's rule, scaled by what
 * its own resizes took. */
double gain_resize_stall(const struct gain_job *job, const epop_policy_state_t *state, int one, int other);

/* So many times as long as it is taken to it may need at so many nodes. Where it was not measured it may be no faster
 * than on fewer nodes where it was, or no more efficient than on more. */
double gain_job_slower(const struct gain_job *job, int nodes);

/* Seconds that it still needs, as it is told; a job of which nothing is known is taken to be long. */
double gain_job_left(const epop_policy_job_t *job);

bool gain_job_flexible(const epop_policy_job_t *job);

/* It can have another size while it runs, from now on and for at least half of its time. */
bool gain_job_grows(const epop_policy_job_t *job);

/* Over one node, of the work that was asked for: its speedup, up to the nodes that are useful. */
double gain_job_speed(const struct gain_job *job, int nodes);

/* Seconds that it still needs at so many nodes, for the work that was asked for. With weak scaling it ends when it
 * would have anyway: on fewer nodes than its user wants this is what its work would take. */
double gain_job_seconds(const struct gain_job *job, int nodes);

/* At most so many, whatever its speedup is; of a job that waits. */
double gain_job_at_most(const struct gain_job *job, int nodes);

/* What a second of this job counts: slowdown is relative to the time that it takes. */
double gain_job_weight(const epop_policy_job_t *job);

/* What a second counts, of one that ends in so many: more where it misses a deadline by that. */
double gain_job_haste(const struct gain_job *job, double seconds);

/* Seconds that a resize makes it stand still. */
double gain_job_cost(const struct gain_job *job, const epop_policy_state_t *state, int nodes);

/* And until it is done: nodes that it gives back are free only then. */
double gain_job_takes(const struct gain_job *job, const epop_policy_state_t *state, int nodes);

/* The largest size that it accepts, in all phases that count, up to `nodes`; the smallest above `nodes`. 0: none. */
int gain_job_fit(const struct gain_job *job, int nodes);
int gain_job_above(const struct gain_job *job, int nodes);

/* What a speedup is of, for reasons: so many times "as fast", or "the work". */
const char *gain_job_brings(const struct gain_job *job);

void gain_job_set(struct gain_job *job, int nodes);

/* Seconds from now to a phase that does not accept so many nodes, at most to the job's end. */
double gain_job_until(const struct gain_job *job, int nodes);

#endif
