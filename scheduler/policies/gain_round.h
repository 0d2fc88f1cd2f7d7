/*
 * The working set of one decision of the policy `gain`: the jobs that run and those that this plan starts, and the
 * nodes that are left. The steps of the decision (gain.c) change the sizes of the jobs here, and then write the plan.
 */
#ifndef SCHEDULER_POLICIES_GAIN_ROUND_H
#define SCHEDULER_POLICIES_GAIN_ROUND_H

#include <epop/policy.h>
#include <stdbool.h>

#include "scheduler/policies/gain_line.h"
#include "scheduler/policies/gain_model.h"

/* What a job could give next, and what that costs. */
struct gain_step {
    int job, to;
    int asked; /* nodes that were needed when it was looked for */
    double loss, price;
};

struct gain_round {
    const struct gain_options *options;
    const epop_policy_state_t *state;
    epop_plan_t *plan;
    struct gain_job *jobs; /* first those that run, as in the state */
    int count, running, room;
    struct gain_line ends[2]; /* nodes that jobs have given back by then; the second: as for gain_round_soon */
    int free;                 /* nodes that may be taken now */
    int coming;               /* that will be given back soon, and are nobody's yet */
    double back;              /* seconds until they are, at most */
    int over;                 /* nodes over the power cap: jobs have to give them back */
    double shadow;   /* seconds to the next start that is promised, or that EASY has, with firm; infinite: to none */
    int extra;       /* nodes that it leaves at that time */
    double deadline; /* seconds to what it was promised first: others' shrinking may delay it until then */
    bool blocked;    /* a job waits that cannot be helped */
    double price;    /* what a node-second is worth to the jobs that wait */
    int effort;      /* donors that may be looked at still: bounds the time that a decision takes */
    struct gain_step *steps; /* of donors: room for all jobs */
    bool firm;               /* starts are held against those of EASY backfilling */
    bool behind;             /* of these, by far */
    /* What may be taken for good from then on. Idle: under EASY backfilling; nodes: that it gives to jobs that run here
     * or have ended, and these do not need, and of its idle ones; room: beside what was promised. */
    struct gain_line spares;
    int promises;                  /* to those that wait still; -1: to be counted */
    const epop_policy_job_t *head; /* that is promised a start in this plan; NULL: none */
    double head_at;                /* when */
    const struct gain_job *due;    /* that nodes are freed for; NULL: none that is held against promises */
};

/* 0, or -1: no memory. */
int gain_round_begin(struct gain_round *round, const struct gain_options *options, const epop_policy_state_t *state,
                     epop_plan_t *plan);
void gain_round_end(struct gain_round *round);

/* A job that waits becomes one of the jobs, at so many nodes; held if `job` is. NULL: no memory. */
struct gain_job *gain_round_start(struct gain_round *round, const struct gain_job *job, int nodes);

/* Others may give nodes though they have not been at their sizes for long; or may not. */
void gain_round_move_bound(struct gain_round *round, bool may);

/* With firm: others give nodes back for a job that waits, which needs those that are free, too. */
bool gain_round_is_collecting(const struct gain_round *round);

/* Seconds until so many nodes are there, if nobody is resized; infinite: never. `extra`: those beyond; may be NULL. */
double gain_round_when(struct gain_round *round, int nodes, int *extra);

/* The same if the jobs that can be resized have what they want until they end, as far as the machine allows it. */
double gain_round_soon(struct gain_round *round, int nodes, int *extra);

/* Seconds that a job needs then. */
double gain_round_fast(const struct gain_job *job);

/* Whether a start leaves what it is that EASY backfilling has idle, or gives to jobs that wait still. */
bool gain_round_safe(struct gain_round *round, const struct gain_job *job, int nodes);

/* Whether it leaves what was promised to others. */
bool gain_round_in_room(struct gain_round *round, const struct gain_job *job, int nodes);

/* Somebody who waits was promised a start. */
bool gain_round_has_promised(struct gain_round *round);

/* Promises it a start, as soon as EASY backfilling gives it one and there is room: seconds from now; infinite: none
 * that is sooner than what it was promised. */
double gain_round_promise(struct gain_round *round, const epop_policy_job_t *job);

/* Makes room for a job that waits: of idle nodes, nodes that come, and those that other jobs can spare, at the size at
 * which the job gains most over what the others lose. True: the job has become one of the round's jobs (it starts now,
 * or is held until nodes come). */
bool gain_round_make_room(struct gain_round *round, struct gain_job *job);

/* Running jobs give back so many nodes for something else than a start: they are the caller's when they come. If they
 * cannot, or lose more than it is worth: false, and what they can if `some`, else nothing. */
bool gain_round_free_nodes(struct gain_round *round, int nodes, double worth, bool some, const char *why);

#endif
