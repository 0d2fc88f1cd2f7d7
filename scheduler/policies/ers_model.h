/*
 * What the policy `ers` computes of jobs before it decides: which sizes they accept, which ones a running job may have
 * by its MTCT, what a resize costs, and sizes at which several jobs end together. Chapters are those of the
 * dissertation of I. A. Compres Urena (TU Munich 2017).
 */
#ifndef SCHEDULER_POLICIES_ERS_MODEL_H
#define SCHEDULER_POLICIES_ERS_MODEL_H

#include <epop/policy.h>
#include <stdbool.h>

/* ---- Options ------------------------------------------------------------------------------------ */

struct gain_options;

struct ers_settings {
    double upper, lower; /* thresholds of MTCT */
    double period;       /* seconds between two evaluations */
    double values;       /* iterations before a sample counts */
    double worth;        /* times the adaptation time that must be left, or won */
    bool balance, fill, moldable;
    struct gain_options *starts; /* of the policy `gain`, whose queue it has unless `firm` is 0 there */
};

extern const epop_policy_option_t ers_options[];

/* The defaults. NULL: no memory. */
struct ers_settings *ers_settings_new(void);
void ers_settings_free(struct ers_settings *settings);

/* -1: the value makes no sense. */
int ers_settings_set(struct ers_settings *settings, const char *name, const char *value);

/* ---- Sizes that a job can have ------------------------------------------------------------------ */

/* Those that it and the element that it runs accept. */

/* It may get another size now: malleable or evolving, and in an elastic element. */
bool ers_is_elastic(const epop_policy_job_t *job);

/* The largest accepted size <= nodes; 0: there is none. */
int ers_fit(const epop_policy_job_t *job, int nodes);

/* The smallest accepted size; 0: there is none. */
int ers_least(const epop_policy_job_t *job);

/* At which it is to start: what its user asked for, or the next smaller accepted size, or its least; but where an
 * earlier job of its program was above the upper threshold, the largest size below at which that was not. */
int ers_wanted(const struct ers_settings *settings, const epop_policy_job_t *job);

/* The size at which it would start on so many nodes; 0: it would not. With start=moldable below what its user
 * asked for, too. */
int ers_size_on(const struct ers_settings *settings, const epop_policy_job_t *job, int nodes);

/* Node seconds that one that waits needs. */
double ers_work(const epop_policy_job_t *job);

/* ---- The resource range vector ------------------------------------------------------------------ */

/* Which sizes a running job may have, by MTCT: the SPMD-phase model (10.2.3, 10.3.2). */

enum ers_verdict {
    ERS_UNKNOWN, /* no elastic job, or nothing was measured at its size */
    ERS_STAYS,   /* in the band, or there is no other size: no candidate */
    ERS_REDUCED, /* has to become `low` nodes */
    ERS_FREE     /* keeps its efficiency from `low` to `high` nodes */
};

/* An entry of the resource range vector. */
struct ers_range {
    enum ers_verdict verdict;
    int low, high;
    const epop_policy_sample_t *sample; /* NULL: the program asked for it */
};

/* Unknown: also while it adapts. */
struct ers_range ers_range_of(const struct ers_settings *settings, const epop_policy_job_t *job, double now);

/* What decided, as in "MTCT 0.004 below 0.01". */
void ers_range_text(const struct ers_settings *settings, const epop_policy_job_t *job, const struct ers_range *range,
                    char *text, int size);

/* Seconds that a resize takes: the mean of the job's own, or what one is taken to cost. */
double ers_cost(const epop_policy_state_t *state, const epop_policy_job_t *job);

/* ---- Time balancing ----------------------------------------------------------------------------- */

/*
 * A set of jobs gets other sizes, so that all end at one time (10.3.3).
 *
 * Published is a linear system for the scaling factors x': x'(i)/t(i) = x'(i+1)/t(i+1) for neighbours, and
 * sum x'(i)*n(i) = sum n(i) + idle. All x'(i)/t(i) being one number 1/T, its solution is x'(i) = t(i)/T with
 * T = sum t(i)*n(i) / (sum n(i) + idle), the common end.
 */

struct ers_share {
    double work;   /* node seconds that are left: t * n */
    int low, high; /* sizes between which the job keeps its efficiency */
    double nodes;  /* what it gets; not a whole number */
};

/* Shares `total` nodes, none below its low or above its high; with neither in the way it is the solution of the
 * system. Returns the end that those have in common that are at no limit; 0: there is none. */
double ers_balance(struct ers_share *shares, int count, double total);

#endif
