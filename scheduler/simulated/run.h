/* A simulation under way: its structure, which simulate.c and play.c share, and its events. */
#ifndef SCHEDULER_SIMULATED_RUN_H
#define SCHEDULER_SIMULATED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/core/core.h"
#include "scheduler/simulated/ledger.h"
#include "scheduler/simulated/rates.h"
#include "scheduler/simulated/schedule.h"
#include "scheduler/simulated/simulate.h"

/* ---- Events ------------------------------------------------------------------------------------- */

/*
 * What will happen in a simulated run, by time: a binary heap. What happens at the same time comes in the order of the
 * kinds, then of the jobs, then as it was added, so that a run depends on nothing else.
 */

enum event_kind {
    EVENT_PHASE,   /* a job has computed its phase, or as far as it does before it moves bytes */
    EVENT_MOVED,   /* the first transfer on a shared rate is over */
    EVENT_LIMIT,   /* its time limit is used up */
    EVENT_RESIZE,  /* the next step of a resize */
    EVENT_MEASURE, /* enough iterations for a sample */
    EVENT_NODE,    /* one fails, or returns */
    EVENT_SUBMIT,
    EVENT_DEADLINE, /* a job that is given up late cannot meet its deadline if it waits now, or has missed it */
    EVENT_PROMISE,  /* a start that was promised is looked at */
    EVENT_KINDS
};

struct event {
    double time;
    enum event_kind kind;
    size_t index;   /* of the job, the fault or the rate */
    unsigned stamp; /* one that is no longer the job's or the rate's is of the past: the event does not happen */
    unsigned long order;
};

struct events {
    struct event *heap;
    size_t count, room;
    unsigned long added;
};

/* ---- Jobs --------------------------------------------------------------------------------------- */

enum play_state { PLAY_AHEAD, PLAY_WAITS, PLAY_RUNS, PLAY_OVER };

enum resize_stage {
    RESIZE_NONE,
    RESIZE_PREPARES, /* processes are started; the job computes on */
    RESIZE_WAITS,    /* ready, but in a rigid phase: until an elastic one begins */
    RESIZE_STANDS,   /* the job stands still */
    RESIZE_MOVES     /* and then its bytes go over the network */
};

/* Of the resize under way; all but `number` are of no meaning when there is none. */
struct play_resize {
    enum resize_stage stage;
    int to;
    int *nodes; /* that it gets or gives back; owned */
    int count;
    double decided, stands; /* when */
    int number;             /* of the job's resizes, from 1 */
};

/* A job as it is played. */
struct play {
    const struct work *work;
    struct job_record *record;
    enum play_state state;
    unsigned stamps[EVENT_KINDS]; /* of the events that are still to happen */
    int nodes;                    /* at which it computes */
    int phase;
    double done, since, pace;       /* iterations of the phase, done at that time; seconds that one computes */
    double counted;                 /* iterations whose work is counted */
    double until;                   /* it computes up to there: to the phase's end, or to move bytes */
    bool moving;                    /* in a transfer, which goes on when it does not stand still */
    enum shared on;                 /* which it is on */
    double bytes;                   /* of it, when it began or went on */
    double moved_to[SHARED];        /* iterations whose bytes are moved */
    double moving_seconds[SHARED];  /* since the last sample */
    double limit_left, limit_since; /* seconds at `wanted` nodes, at that time */
    struct play_resize resize;
    int leaves, least; /* leaf switches that it computes below, and how few could be; 0: not known, or it waits */
    double placed;     /* since when */
    double speed;      /* of its slowest node */
    double measured_from, sample_at; /* `done`: when the present size or phase began, of the next sample */
    double sampled, sampled_at;      /* `done` and the time: at the last one, or when that began */
    int samples;                     /* since then */
    int asked;
    bool promised;
    double promise, promise_made, reserved; /* the first promise; when it was made; the latest */
    int promise_nodes;
};

/* To find a job by its id. */
struct play_id {
    int64_t id;
    size_t index;
};

/* ---- The run ------------------------------------------------------------------------------------ */

struct run {
    const struct simulation *simulation;
    const struct workload *workload;
    struct schedule *schedule;
    struct core *core;
    struct ledger ledger;
    struct rate rates[SHARED];
    unsigned rate_stamps[SHARED]; /* of EVENT_MOVED */
    struct events events;
    struct play *plays; /* as the works of the workload */
    struct play_id *ids;
    size_t count;
    double now, wake;
    size_t running, waiting, over;
    bool news;           /* something happened that the policy is to see */
    bool exact;          /* so far promised starts must hold */
    bool reorders;       /* there are shares or deadlines, so that the queue is not by submission */
    size_t compared;     /* decisions that were found in the recorded run */
    double node_seconds; /* held */
    double joules, peak; /* watts */
    double round_began;  /* when `rounds` was 0 */
    int rounds;          /* decisions without time moving */
    int idle_rounds;     /* decisions in a row with nothing running and nothing due */
    long wakes;          /* in a row, for which the policy was asked and nothing had happened */
    int unchecked;       /* changes since the ledger was counted */
};

/* 0, or -1: no memory. */
int run_add_event(struct run *run, const struct event *event);

/* The first, which stays; NULL: there is none. */
const struct event *run_first_event(const struct run *run);
void run_drop_event(struct run *run);

void run_free_events(struct run *run);

/* NULL: there is none. */
struct play *run_find(const struct run *run, int64_t id);

/* An event of this job; those of the same kind that were there do not happen. */
int run_expect(struct run *run, struct play *play, enum event_kind kind, double time, struct error *error);
/* None of this kind. */
void run_forget(struct play *play, enum event_kind kind);

/* A line in the schedule's events. */
int run_note(struct run *run, struct error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
