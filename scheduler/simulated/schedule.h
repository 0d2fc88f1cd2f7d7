/* What happened in a run, simulated or recorded from real jobs, and the field's figures of it. */
#ifndef SCHEDULER_SIMULATED_SCHEDULE_H
#define SCHEDULER_SIMULATED_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "scheduler/core/core.h"
#include "scheduler/workload/workload.h"

/* A job on the same nodes for a while. */
struct stay {
    double begin, end;
    int *nodes; /* ascending; owned */
    int count;
};

/* RUNNING and WAITING: when the record was made of what is not over yet. */
enum outcome { OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_NEVER, OUTCOME_RUNNING, OUTCOME_WAITING };

struct job_record {
    const struct work *work;
    double start, end; /* the last start; negative: it did not */
    enum outcome outcome;
    int resizes, requeues;
    double more;                        /* seconds on one node of the work that weak scaling has added */
    double stalled;                     /* seconds */
    double leaf_seconds, least_seconds; /* leaf switches below which it computed, and the fewest possible, by time */
    double joules;                      /* that its nodes used; 0: not known */
    struct stay *stays;
    int stay_count, stay_room;
    bool brief; /* of the stays only the one that goes on is kept */
};

struct decision_record {
    double time;
    struct decision decision; /* its nodes are owned */
};

struct event_record {
    double time;
    char *text; /* "node 3 fails", ... */
};

struct metrics {
    double makespan;            /* from the first submission to the last end */
    double mean_wait, max_wait; /* seconds from submission to (last) start */
    double mean_response;       /* to the end */
    double mean_slowdown, p95_slowdown,
        max_slowdown;            /* bounded: (wait + run) / max(run at `wanted` nodes alone, 10 s), at least 1 */
    double utilisation;          /* node seconds held / (nodes * makespan) */
    double efficiency;           /* seconds of the work on one node / node seconds held */
    double user_slowdown_spread; /* of the users' mean bounded slowdowns: largest / mean */
    double joules;               /* 0: watts not known */
    double peak_watts;
    bool has_rate[SHARED];    /* the machine */
    double rate_used[SHARED]; /* bytes moved / (rate * makespan) */
    int deadlines, missed,
        missed_done;      /* jobs with a deadline; those that ended later, or not well; of these the done */
    double mean_lateness; /* seconds after it, of those that missed it and are done */
    int jobs, done, resizes, grown, shrunk, refused, backfilled, requeues;
    double stalled;        /* node seconds lost in resizes */
    double spread;         /* leaf switches of a job over the fewest possible, mean; 0: not known */
    double decide_seconds; /* CPU time in the policy, and the longest decision */
    double decide_longest;
    long decides;
};

/* What became of the jobs of an account, where there are shares. */
struct account_record {
    char *name;          /* owned */
    double share, usage; /* at the end, as in struct account */
    int done;            /* jobs */
    double mean_wait, mean_slowdown;
};

struct schedule {
    char *policy;            /* its name */
    char *options;           /* as given, "" */
    struct job_record *jobs; /* as the works of the workload */
    size_t job_count;
    struct decision_record *decisions;
    size_t decision_count, decision_room;
    struct event_record *events;
    size_t event_count, event_room;
    struct metrics metrics;
    struct account_record *accounts; /* by name */
    size_t account_count;
    bool brief; /* what the figures need, and no more: no decisions, no events */
};

void schedule_free(struct schedule *schedule);

/* ---- Writing down what happens ------------------------------------------------------------------ */

/* All return 0, or -1 when out of memory. Of a brief schedule decisions and events are let go. */

int record_decision(struct schedule *schedule, double time, const struct decision *decision);

/* `text` is the schedule's from now on, also on failure. */
int record_event(struct schedule *schedule, double time, char *text);

/* What the job holds now; empty before its start. */
const struct stay *record_held(const struct job_record *job);

/* The job holds these nodes, too; or no longer these. Ascending. */
int record_more(struct job_record *job, double time, const int *nodes, int count);
int record_fewer(struct job_record *job, double time, const int *nodes, int count);
/* Nothing any more. */
void record_none(struct job_record *job, double time);

/* ---- Figures ------------------------------------------------------------------------------------ */

/* Of a job that is done: seconds from its submission to its (last) start; bounded slowdown. */
double job_wait(const struct job_record *job);
double job_slowdown(const struct job_record *job);
/* Leaf switches over the fewest possible; 0: not known. */
double job_spread(const struct job_record *job);
/* Seconds after its deadline at which it ended; negative: before. Of one that has a deadline. */
double job_lateness(const struct job_record *job);

/* Of a run that is over: sums up struct metrics (formulas: docs/reference/simulator.md) of the jobs' records, and the
 * node seconds that they held; what was counted on the way is there already. */
int metrics_sum(struct schedule *schedule, const struct workload *workload, double node_seconds, struct error *error);
/* The same for its accounts, which are those of `shares`, as they are at the end. */
int accounts_sum(struct schedule *schedule, const struct shares *shares, struct error *error);

#endif
