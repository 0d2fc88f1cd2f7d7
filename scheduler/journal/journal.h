/*
 * What must survive the daemon of epoprm: its nodes and jobs, who holds which node, how far each resize is, and what
 * happened. One SQLite file in the user's directory. The daemon writes, in transactions; commands may read meanwhile.
 *
 * That a node is held by one job at a time is a fact of the file: `holding` has the node as its key. A second one is
 * refused by SQLite, whatever the daemon thinks.
 *
 * Times are seconds since 1970; negative where there is none. All that return int: 0, or -1 with one line that names
 * the file (full disk, damaged, written by a newer version).
 */
#ifndef SCHEDULER_JOURNAL_JOURNAL_H
#define SCHEDULER_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct journal;

/* Makes the file, private to the user, if there is none. NULL in *journal on failure. */
int journal_open(struct journal **journal, const char *path, struct error *error);
/* For looking at it, also while a daemon writes. ERROR_REFUSED: there is none. */
int journal_open_reading(struct journal **journal, const char *path, struct error *error);
void journal_close(struct journal *journal); /* may be NULL; a transaction that is open is taken back */

/* All between the two happens, or nothing of it. Not nested. A change outside is a transaction of its own. */
int journal_begin(struct journal *journal, struct error *error);
int journal_commit(struct journal *journal, struct error *error); /* -1: taken back */
void journal_rollback(struct journal *journal);

/* Words of the daemon: "policy", "hosts", "launcher", "clean" ... */
int journal_meta_set(struct journal *journal, const char *key, const char *value, struct error *error);
/* *value: the caller's to free; NULL where there is none. */
int journal_meta_get(struct journal *journal, const char *key, char **value, struct error *error);

/* ---- Nodes -------------------------------------------------------------------------------- */

struct journal_node {
    int number; /* the core's, from 0 */
    const char *name, *host;
    int slots;
    const char *state;  /* "up", "drain", "down" */
    const char *reason; /* why it is not up; "" */
    double since;       /* in this state */
};

/* A new node, or another host and slots of this number. */
int journal_node_put(struct journal *journal, const struct journal_node *node, struct error *error);
int journal_node_set_state(struct journal *journal, const char *name, const char *state, const char *reason,
                           double time, struct error *error);
/* All of them; none may be held. */
int journal_nodes_forget(struct journal *journal, struct error *error);
int journal_nodes(struct journal *journal, void (*each)(void *to, const struct journal_node *node), void *to,
                  struct error *error);

/* ---- Jobs --------------------------------------------------------------------------------- */

struct journal_job {
    int64_t number;
    const char *name, *kind; /* "rigid", "moldable", "malleable", "evolving" */
    const char *const *argv; /* what the user gave; ends with NULL */
    const char *cwd;
    const char *const *environment; /* K=V; ends with NULL */
    const char *output;
    int ranks_min, ranks_max, nodes_min, nodes_max, wanted; /* wanted: nodes */
    double limit;                                           /* seconds */
    bool once;
    const char *account; /* that it is counted for, as its user says; ""; NULL: nothing was said */
    double deadline;     /* when it is wanted to have ended; 0: nothing was said */
    bool drop_late;      /* it is given up when it cannot meet that any more, and ended at that time */
    const char *state;   /* "waiting", "starting", "running", "adapting", "ending", "done", "failed", "cancelled" */
    const char *reason;  /* of that state; "" */
    double submitted, started, ended;
    int status; /* exit status of one that has ended, 128 + signal; else -1 */
};

/* Submits: number, state and times are not looked at, but for `submitted`; *number is its new one. */
int journal_job_add(struct journal *journal, const struct journal_job *job, int64_t *number, struct error *error);
/* One whose number others have given. ERROR_REFUSED: it is there. */
int journal_job_put(struct journal *journal, const struct journal_job *job, struct error *error);
/* One, if it is there, or those that ended before that time, with all that there is of them; they hold no node. */
int journal_job_forget(struct journal *journal, int64_t job, struct error *error);
int journal_jobs_forget(struct journal *journal, double before, struct error *error);
/* What it is from now on; a kind that the job has found out itself; when it began. */
int journal_job_set_state(struct journal *journal, int64_t job, const char *state, const char *reason,
                          struct error *error);
int journal_job_set_kind(struct journal *journal, int64_t job, const char *kind, struct error *error);
int journal_job_set_started(struct journal *journal, int64_t job, double time, struct error *error);
/* What its user says of it from now on. */
int journal_job_set_account(struct journal *journal, int64_t job, const char *account, struct error *error);
int journal_job_set_deadline(struct journal *journal, int64_t job, double deadline, bool drop_late,
                             struct error *error);
/* `state`: done, failed or cancelled. What it held must have been released before. */
int journal_job_ended(struct journal *journal, int64_t job, const char *state, const char *reason, int status,
                      double time, struct error *error);
/* Those that have not ended, or all; by number. */
int journal_jobs(struct journal *journal, bool ended, void (*each)(void *to, const struct journal_job *job), void *to,
                 struct error *error);

/* The state of a job; the caller's to free, NULL: there is none. */
int journal_job_state(struct journal *journal, int64_t job, char **state, struct error *error);

/* It comes after another one, which has been submitted before; and all those. */
int journal_after_add(struct journal *journal, int64_t job, int64_t other, struct error *error);
int journal_afters(struct journal *journal, int64_t job, void (*each)(void *to, int64_t other), void *to,
                   struct error *error);

/* Its place among those that wait: the higher the priority the earlier; while it is held it is in no queue. One that
 * leaves is being saved, and will wait again; it goes on from what was saved. */
struct journal_queueing {
    int64_t job;
    int priority;
    bool held, leaves;
    const char *saved; /* the file; "": it begins anew */
};
int journal_queueing_set(struct journal *journal, const struct journal_queueing *queueing, struct error *error);
/* Where nothing was set: 0, not held, and so on. `saved` is the caller's to free; NULL: no memory. */
int journal_queueing_get(struct journal *journal, int64_t job, struct journal_queueing *queueing, struct error *error);

/* ---- Who holds what ----------------------------------------------------------------------- */

struct journal_holding {
    const char *node;
    int64_t job;
    double since;
};

/* ERROR_REFUSED: it is held already, or there is no such node or job. `place`: its order among the job's nodes. */
int journal_hold(struct journal *journal, const char *node, int64_t job, int place, double time, struct error *error);
/* ERROR_REFUSED: this job does not hold it. */
int journal_release(struct journal *journal, const char *node, int64_t job, struct error *error);
/* By job, then place. */
int journal_holdings(struct journal *journal, void (*each)(void *to, const struct journal_holding *holding), void *to,
                     struct error *error);

/* What a job computed on: the time between its start, its commits and its end. */
struct journal_stay {
    int64_t job;
    double begin, end; /* negative: still there */
    const char *nodes; /* names, "n1,n2" */
    int ranks;
    const char *account; /* of the job, as in journal_job */
};

/* How many names these are. */
int journal_count(const char *nodes);
/* From `time` on it computes on these nodes; the stay before, if one is open, ends then. */
int journal_stay(struct journal *journal, int64_t job, double time, const char *nodes, int ranks, struct error *error);
int journal_stay_end(struct journal *journal, int64_t job, double time, struct error *error);
/* By job, then time. */
int journal_stays(struct journal *journal, void (*each)(void *to, const struct journal_stay *stay), void *to,
                  struct error *error);

/* Joules that a job's nodes have used until `time`: one row for each, of daemons that know watts. */
struct journal_energy {
    int64_t job;
    double joules, time;
};
int journal_energy_set(struct journal *journal, int64_t job, double joules, double time, struct error *error);
/* By job. None where the file is of before there was such a table. */
int journal_energies(struct journal *journal, void (*each)(void *to, const struct journal_energy *energy), void *to,
                     struct error *error);

/* ---- Resizes ------------------------------------------------------------------------------ */

/* The dissertation's steps (9.1), in their order. */
enum journal_step {
    JOURNAL_DECIDED,
    JOURNAL_ASKED,
    JOURNAL_PREPARED,
    JOURNAL_AGREED,
    JOURNAL_COMMITTED,
    JOURNAL_SETTLED
};
enum { JOURNAL_STEPS = 6 };
/* "decided" ... "settled" */
extern const char *const journal_step_names[JOURNAL_STEPS];

struct journal_resize {
    int64_t id; /* also the id of the request to the attendant */
    int64_t job;
    int from, to;      /* nodes */
    const char *nodes; /* names that it takes or gives back */
    enum journal_step step;
    double times[JOURNAL_STEPS]; /* when it reached each; negative: not */
    const char *outcome;         /* "" while it goes on; "done", "refused", "failed" */
    const char *reason;          /* of the decision; once refused or failed, of that */
};

/* A new one, decided at `time`. ERROR_REFUSED: the job has one that goes on already. */
int journal_resize_decided(struct journal *journal, int64_t job, int from, int to, const char *nodes,
                           const char *reason, double time, int64_t *id, struct error *error);
int journal_resize_step(struct journal *journal, int64_t id, enum journal_step step, double time, struct error *error);
/* It is over, settled or not. `reason`: NULL to leave that of the decision. */
int journal_resize_over(struct journal *journal, int64_t id, const char *outcome, const char *reason,
                        struct error *error);
/* Those that go on, or all; by id. */
int journal_resizes(struct journal *journal, bool over, void (*each)(void *to, const struct journal_resize *resize),
                    void *to, struct error *error);

/* A job that moves is resized twice, and is as large as before then. */
struct journal_move {
    int size;     /* that it has in the end, in nodes; 0: it does not move */
    bool drained; /* it leaves drained nodes; else the policy moves it */
};
int journal_move_set(struct journal *journal, int64_t job, const struct journal_move *move, struct error *error);
int journal_move_get(struct journal *journal, int64_t job, struct journal_move *move, struct error *error);

/* ---- What happened ------------------------------------------------------------------------ */

/* One line of `watch`. The kinds: "submitted", "decision", "starting", "running", "asked", "prepared", "agreed",
 * "committed", "settled", "refused", "failed", "ending", "ended", "held", "released", "priority", "changed", "saving",
 * "saved", "requeued", "node", "daemon". */
struct journal_event {
    int64_t id; /* ascending; not looked at by journal_event_add */
    double time;
    int64_t job;             /* 0: of none */
    const char *kind, *text; /* text: one line */
    const char *state;       /* of the job from then on; NULL: as before */
    int from, to;            /* nodes, of a resize or a start; else 0 */
    const char *nodes;       /* names of those that the step is about; NULL: none */
    double at;               /* a decision that is a reservation: the start it promises; negative: it is none */
};

int journal_event_add(struct journal *journal, const struct journal_event *event, struct error *error);
/* The last `most` (0: all) of this job (0: of all jobs and none), oldest first. */
int journal_events(struct journal *journal, int64_t job, int most,
                   void (*each)(void *to, const struct journal_event *event), void *to, struct error *error);

#endif
