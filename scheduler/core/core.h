/*
 * The scheduler core: what a site (simulated nodes, a list of hosts, Slurm) tells it makes up the state; a policy makes
 * a plan of it; the core checks the plan, chooses the nodes, and gives decisions, which the site carries out. It has no
 * clock, socket, thread or file: the site hands the time in, and the same calls give the same decisions.
 */
#ifndef SCHEDULER_CORE_CORE_H
#define SCHEDULER_CORE_CORE_H

#include <epop/policy.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "scheduler/core/policy.h"
#include "scheduler/core/shares.h"
#include "scheduler/core/topology.h"

struct core;

/* What a resize is taken to cost where nothing was measured, as in epop_policy_state_t. */
struct core_costs {
    double base, per_node, per_byte;
};

/* All nodes idle. NULL: no memory. */
struct core *core_create(int nodes, const struct core_costs *costs, double power_cap);
void core_destroy(struct core *core);
void core_set_watts(struct core *core, int node, double idle, double busy);
/* As long as the core is there, so is the tree, and it does not change. Before any job comes. spread_cost: as in
 * epop_policy_state_t. -1: no memory. */
int core_set_topology(struct core *core, const struct topology *topology, double spread_cost);
/* Relative; at first 1. Before any job comes. -1: no memory. */
int core_set_speed(struct core *core, int node, double speed);
/* The queue is in the order of these shares, which are copied, with what was used until their `as_of`. Before any job
 * comes. -1: no memory. */
int core_set_shares(struct core *core, const struct shares *shares);

/* ---- What the site tells ------------------------------------------------------------------------ */
/* Each returns 0, or -1 with the reason when that cannot be (no such job, not in that state, more nodes than there are
 * in the machine): then nothing has changed. */

/* A job as it is submitted; all is copied. `wanted` is in the range; range.sizes ascending, from min to max. The site
 * may name phases: all of the program. */
struct core_job {
    int64_t id;
    const char *name;
    int user;
    epop_policy_kind_t kind;
    int wanted;
    epop_policy_range_t range;
    double limit, bytes;
    const epop_policy_phase_t *phases; /* `begins` is not looked at */
    int phase_count;
    double promised;     /* the start that it was promised, of a site that starts again; 0: none */
    int priority;        /* the higher, the earlier in the queue */
    double deadline;     /* when it is wanted to have ended; 0: nothing was said */
    const char *account; /* that it is counted for, where there are shares; NULL: as "" */
    bool balances;       /* it says that a balance may help it */
    bool in_order;       /* only the nodes of its highest ranks can leave it */
};
int core_submit(struct core *core, double now, const struct core_job *job, struct error *error);

/* A job that waits for the core runs in truth: its site starts again. `list` has the nodes that it holds, max(nodes,
 * target) of them, in the order of its ranks; target is another number than nodes while a resize is under way. */
struct core_place {
    double started;
    int nodes, target;
    const int *list;
    double resized; /* when it got its size; 0: by its start */
    int back;       /* it moves: the size that it shrinks to; not below its own: it does not */
};
int core_adopt(struct core *core, double now, int64_t job, const struct core_place *place, struct error *error);

/* Seconds that it takes at most at its largest size, if its limit is right and it speeds up with its nodes, which it
 * does not with weak scaling: one that starts later than so long before its deadline is not taken to meet it. */
double core_fastest(const epop_policy_job_t *job);

/* It has another priority from now on. */
int core_priority(struct core *core, int64_t job, int priority, struct error *error);

/* It waits, and is counted for that account from now on. */
int core_account(struct core *core, int64_t job, const char *account, struct error *error);

/* It is wanted to have ended at that time; 0: nothing is said any more. `limit`: as in core_job, of one that waits. */
int core_deadline(struct core *core, double now, int64_t job, double deadline, double limit, struct error *error);

/* What it accepts has turned out: its kind, `wanted`, range, bytes and phases are these, and whether it balances; the
 * rest is not looked at. It is in its first phase until core_phase says otherwise. */
int core_learned(struct core *core, double now, const struct core_job *job, struct error *error);

/* It ended, by itself or not: its nodes are idle. It is forgotten. Also for one that waits (withdrawn). */
int core_ended(struct core *core, double now, int64_t job, struct error *error);
/* It could not be started, or it was stopped, and is to be started again: back to its place in the queue. */
int core_requeued(struct core *core, double now, int64_t job, struct error *error);
/* The resize that was decided is over, with the seconds that it took and made the job stand still. What it has left,
 * and when its phases begin, scales with the nodes until the site tells better. */
int core_committed(struct core *core, double now, int64_t job, double latency, double stall, struct error *error);
/* The balance that was decided is over, and made the job stand still for `stall` seconds. */
int core_balanced(struct core *core, double now, int64_t job, double stall, struct error *error);
/* Either was refused or failed: the job is as before, nodes that it was to get are idle. */
int core_refused(struct core *core, double now, int64_t job, struct error *error);
/* It is over, but came out in another way: the job has these of its nodes, in the order of its ranks; the others are
 * idle. Also of a resize that failed half-way. */
int core_came_out(struct core *core, double now, int64_t job, const int *nodes, int count, struct error *error);
/* Seconds that it still needs at its present size, by its own progress; counted down from then on. -1: it no longer
 * says anything, and its user's limit counts. */
int core_told(struct core *core, double now, int64_t job, double left, struct error *error);
/* It is in this phase now; `begins`: seconds from now to each phase's begin, from the present one on, or NULL. */
int core_phase(struct core *core, double now, int64_t job, int phase, const double *begins, struct error *error);
/* A program that tells no phases is in that loop now: samples are of it, by EPOP_POLICY_LOOPS and its number. 0: in
 * none. */
int core_loop(struct core *core, int64_t job, int loop, struct error *error);
/* Its present phase has weak scaling, and as many iterations at every size; or not. What it has left does not scale
 * with the nodes then. */
int core_weak(struct core *core, int64_t job, bool weak, struct error *error);
/* Adds to the sample of the same phase and size, as samples_add does, whose result is *change; or does not, where the
 * job is to balance first (balance.h). */
int core_measured(struct core *core, int64_t job, const epop_policy_sample_t *sample, double *change,
                  struct error *error);
/* What was measured in `earlier`, a job of the same program; of a job that waits. Its samples are these until it is
 * measured itself. */
int core_remembered(struct core *core, int64_t job, int64_t earlier, const epop_policy_sample_t *sample,
                    struct error *error);
/* EVOLVING: the program asks for a size; 0: no longer. */
int core_asked(struct core *core, int64_t job, int nodes, struct error *error);
/* Down or up again. A job on a node that goes down is the site's to end or requeue, before it says this. */
int core_node(struct core *core, int node, bool up, struct error *error);

/* ---- What the core gives ------------------------------------------------------------------------ */

/* BALANCE is the core's, not the policy's: the job adapts at its size. */
enum decision_kind { DECISION_START, DECISION_RESIZE, DECISION_RESERVE, DECISION_BALANCE };

/* Of a resize: it is one of two, by which a job moves. */
enum decision_move { MOVE_NOT, MOVE_THERE, MOVE_BACK };

#define DECISION_REASON_MAX 200

struct decision {
    enum decision_kind kind;
    int64_t job;
    int from, to;     /* nodes; from is 0 for START and RESERVE */
    const int *nodes; /* START: where; RESIZE: taken or given back; ascending; NULL for RESERVE and BALANCE */
    int count;
    double time; /* RESERVE: the start */
    char reason[DECISION_REASON_MAX];
    enum decision_move move;
    bool passes; /* START: one that comes before it in the queue waits on */
};

struct decisions {
    const struct decision *items;
    int count;
    double wake; /* when to ask again at the latest; infinite: no need */
};

/* Asks the policy, checks its plan, and takes it into the state: jobs that start run, jobs that resize adapt. What is
 * given is valid until the next call. -1: the plan is refused (the reason names the policy), nothing has changed. */
int core_decide(struct core *core, double now, const struct policy *policy, struct decisions *decisions,
                struct error *error);

/* Does what was measured of the job last not count, as it is to balance first? *due: the next decision is about it. */
bool core_uneven(const struct core *core, int64_t job, bool *due);
/* What came of a job's last balance, once it is measured, and once: the imbalance before and after. False: no news. */
bool core_outcome(struct core *core, int64_t job, double *from, double *to);

/* The site wants this node: the job that holds it shrinks to the largest size that it accepts and that does without it.
 * The job adapts from then on, as after a decision of a policy. -1: no job holds the node, or the one that does cannot
 * give it back now; nothing has changed. */
int core_vacate(struct core *core, double now, int node, const char *reason, struct decision *decision,
                struct error *error);

/* The site wants this job to have more nodes, those that are idle: the smallest size from `least` on that it accepts
 * and that there are nodes for. It adapts from then on. -1: there is none now; nothing has changed. */
int core_grow(struct core *core, double now, int64_t job, int least, const char *reason, struct decision *decision,
              struct error *error);

/* The state as policies see it; valid until the next call that changes it. A time before the last one that was told is
 * taken for that. */
const epop_policy_state_t *core_state(struct core *core, double now);
/* As of the last call that said a time; no accounts where there are no shares. */
const struct shares *core_shares(const struct core *core);
/* NULL: there is none. Its `left` is of the last call of the two above core_shares. */
const epop_policy_job_t *core_job(const struct core *core, int64_t job);

#endif
