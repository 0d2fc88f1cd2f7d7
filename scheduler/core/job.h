/* Jobs as the core keeps them: each with what policies see of it; all of them by their numbers; queues of them. */
#ifndef SCHEDULER_CORE_JOB_H
#define SCHEDULER_CORE_JOB_H

#include <epop/policy.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/core/balance.h"
#include "scheduler/core/core.h"
#include "scheduler/core/sample.h"
#include "scheduler/core/shares.h"

/* ---- One job ------------------------------------------------------------------------------------ */

struct job {
    epop_policy_job_t view; /* the first member: a pointer to one is a pointer to the other */
    char *name;
    epop_policy_phase_t *phases; /* all of them; the view has those from the present one on */
    double *begins;              /* of each, from `as_of` on; negative: not known */
    int phase_count;
    int phase;    /* the present one */
    int loop;     /* of an executable, in which it is; 0: not known */
    int expected; /* the phase in which an earlier job of the program was longest; -1: none, or this one tells its own
                   */
    struct samples samples;
    int *nodes; /* what it holds, in the order of its ranks */
    size_t node_room;
    double left, as_of;   /* while it runs: what was left at that time, at its size, by its user's limit */
    double told;          /* and by its progress, which counts; negative: it tells nothing */
    double area;          /* node seconds before the present size */
    double stalled, late; /* sums of its resizes: seconds of stand-still, and from decision to commit */
    bool balances;        /* a balance may help, as it says */
    bool in_order;        /* only the nodes of its highest ranks can leave it */
    int back;             /* it moves: the size that it shrinks to; 0: it does not */
    struct balance_rule balance;
    uint64_t planned;        /* the last plan that has a decision on it */
    struct account *account; /* that it is counted for; not owned; NULL: there are no shares */
    double latest;           /* as in struct turn */
    uint64_t promised;       /* its place among those that wait and were promised a start; 0: that does not count */
};

/* A copy that waits. NULL: no memory. */
struct job *job_create(const struct core_job *given, double now);
void job_free(struct job *job);

/* As it was submitted, but for what was learned of it: it has no nodes, and is at its first phase. */
void job_waits(struct job *job);

/* Takes kind, sizes, bytes and phases of `fresh`, which is the caller's to free. */
void job_learn(struct job *job, struct job *fresh);

/* When it has to start for its deadline, if it can meet that still. True: that is another time than before. */
bool job_latest(struct job *job, double now);

/* What its place in the queue follows from. */
struct turn job_turn(const struct job *job);

/* Room for that many nodes; -1: no memory. */
int job_reserve_nodes(struct job *job, int count);

/* The view has the samples that there are. */
void job_show_samples(struct job *job);

/* A sample of that earlier job of the same program; there must be room for it. */
void job_remember(struct job *job, int64_t earlier, const epop_policy_sample_t *sample);

/* It waits, or has always had the nodes that its user wanted. */
bool job_is_as_wanted(const struct job *job);

/* Seconds that it would have taken at these, about so many where it had others; 0: it waits. */
double job_took(const struct job *job, double now);

/* It may balance now, so that what is measured of it while it is uneven does not count. */
bool job_may_balance(const struct job *job);

/* How many it holds. */
int job_held(const struct job *job);

/* ---- What a job has left ------------------------------------------------------------------------ */

/*
 * How long a running job will still take, and when its phases begin: told by its progress or else taken from its user's
 * limit, and counted down.
 */

/* It starts: all of the user's limit, at the nodes that it has. */
void job_left_starts(struct job *job, double now);
/* Its progress says so; negative: it no longer says anything. */
void job_left_told(struct job *job, double now, double left);
/* An executable is in that loop now; 0: in none. */
void job_in_loop(struct job *job, int loop);
/* A phase begins; `begins` as in core_phase. */
void job_left_phase(struct job *job, double now, int phase, const double *begins);
/* It stood still for `stall` seconds, and computes on at its size. */
void job_left_stalled(struct job *job, double now, double stall);
/* It stood still for `stall` seconds, and has its new size, with nodes of that speed: from here on the rest scales with
 * the nodes (but with weak scaling), and what its progress says with their speed, too. */
void job_left_resized(struct job *job, double now, double stall, int to, double speed);
/* The view at that time. */
void job_left_show(struct job *job, double now);

/* ---- All jobs by their numbers ------------------------------------------------------------------ */

/* A hash with open addressing. Owns them. */
struct jobs {
    struct job **slots;
    size_t room, count; /* room: 0, or a power of two */
};

/* NULL: there is none. */
struct job *jobs_find(const struct jobs *jobs, int64_t id);

/* One that is not there yet. -1: no memory. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Out of the table, and freed. */
void jobs_remove(struct jobs *jobs, struct job *job);
void jobs_free(struct jobs *jobs);

/* ---- Jobs in an order --------------------------------------------------------------------------- */

/* Those that come later mostly go behind, those that leave are mostly in front: an array with room at both ends. Owns
 * no job. */
struct job_queue {
    /* Negative: `one` comes first; 0: the one with the lower id does. What it looks at does not change while they are
     * here, or job_queue_sort is called at once. */
    int (*order)(const epop_policy_job_t *one, const epop_policy_job_t *other);
    const epop_policy_job_t **room;
    size_t first, count, size;
};

/* Room for that many more; -1: no memory. */
int job_queue_reserve(struct job_queue *queue, size_t more);

/* There must be room. */
void job_queue_add(struct job_queue *queue, const struct job *job);
/* It must be there. */
void job_queue_remove(struct job_queue *queue, const struct job *job);
/* All are in their order again. */
void job_queue_sort(struct job_queue *queue);

/* The first of them. */
const epop_policy_job_t *const *job_queue_items(const struct job_queue *queue);
void job_queue_free(struct job_queue *queue);

#endif
