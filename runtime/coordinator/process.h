/*
 * What the coordinator knows of each process, and which of them are the ranks of the present world. For the files of
 * this folder; others ask by processes.h.
 */
#ifndef EPOP_COORDINATOR_PROCESS_H
#define EPOP_COORDINATOR_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/host.h"
#include "runtime/base/proctree.h"
#include "runtime/coordinator/processes.h"
#include "runtime/member/plan.h"
#include "runtime/member/stretch.h"
#include "runtime/wire/messages.h"

struct coordinator;

/* Each field is written by the file named before it alone. */
/* Whether its program's thread only waits in MPI. */
struct waiting {
    int round; /* of the question */
    double seconds;
    uint64_t count; /* of its probes */
    char function[48];
};

/* What it claims in a roll call. */
struct kept_claim {
    struct message message; /* a report_claim */
    enum claim_by {
        CLAIM_OWN,
        CLAIM_FOR_HOST, /* for all ranks of its host, of which each has one: */
        CLAIM_BY_OTHER
    } by;
    bool seen; /* by debugging.c */
    struct kept_claim *next;
};

struct process {
    /* process.c; processes.c where its number is given out */
    enum process_state state;
    int rank;   /* in the world, -1 outside */
    int launch; /* the adaptation that it was started for; 0: the job's start */
    /* arrivals.c, from its hello */
    char host[HOST_OWN_MAX];
    int pid;
    struct proc_id here; /* none on another host */
    bool attached;       /* to the control plane: its hello has come */
    bool identified;     /* and said what it runs */
    bool bound;          /* to these cores of its host */
    cpu_set_t cores;
    int slurm_job; /* that it runs in; 0: none */
    /* agreement.c; for others process_forget_answers */
    bool answered;  /* to a freeze or, a joiner, to a ping */
    bool ended;     /* the program */
    bool arrived;   /* at the target, or before a phase that needs another size */
    uint64_t count; /* of its answer or arrival */
    struct position at;
    int needs;
    double held; /* since when it stands still there, monotonic */
    /* settle.c */
    struct stretch_log *told; /* owned; NULL: nothing so far */
    /* adaptation.c */
    bool met, ready; /* preparing */
    bool through;    /* the window: it is not waited for */
    /* liveness.c */
    struct waiting waiting; /* its last answer */
    /* liveness.c */
    int unanswered; /* questions for a sign of life since it last said something */
    /* debugging.c */
    bool heard; /* that the job ends */
    /* debugging.c; process.c when it is no rank any more */
    struct kept_claim *claims; /* not passed yet, in order; owned */
    /* debugging.c */
    bool halts; /* it is stopped while others go on */
    bool kept;  /* and its claim has passed, of which it is told when it goes on */
    /* debugging.c: the memory of its host's ranks */
    int64_t rounds; /* that it has made claims for, itself or by another */
    int fd;         /* its descriptor, if it made it */
    /* departures.c */
    bool dismissed; /* it is to leave, and to end then */
    bool closed;    /* its connection is */
    /* checkpoint.c: the number of the checkpoint; 0: none */
    int stores; /* its part of which is not on disk */
    int keeps;  /* which it has not ended */
    /* survey.c */
    struct message survey_answer;      /* its last one: a report_located, if there is one */
    int survey_asked, survey_answered; /* the survey that it was asked in, that this is the answer to */
    /* measure.c */
    struct message measure_answer;       /* as survey_answer: a report_gauge */
    int measure_asked, measure_answered; /* likewise */
    /* liveness.c, at its last look */
    int64_t seen_visit, seen_iteration;
};

struct processes {
    struct process *table;
    int count;          /* numbers given out so far; a number is used once */
    char identity[200]; /* of process 0 */
    int size;           /* of the present world */
    int *world;         /* process numbers by rank */
    int world_id;       /* the adaptation that made it; 0: the first world */
};

/* The first `size` of `count` are ranks. 0, or -1: out of memory. */
int processes_init(struct processes *processes, int count, int size);
void processes_destroy(struct processes *processes);

struct process *process_at(const struct coordinator *c, int process);
int process_number(const struct coordinator *c, const struct process *p);
struct process *process_of_rank(const struct coordinator *c, int rank);

/* Behind the others; false: out of memory. And the first of them goes. */
bool process_keep_claim(struct process *p, const struct report_claim *claim, enum claim_by by);
void process_pass_claim(struct process *p);

void process_become(struct process *p, enum process_state state);
/* It said itself that it ends: it is no rank any more. */
void process_end(struct process *p);
/* What it said for an agreement: what it says from here on is of another world. */
void process_forget_answers(struct process *p);

/* The world after an adaptation: staying ranks in their order, then the joining ones. */
void process_make_world(struct coordinator *c, int id, const char *leaves, const int *joiners, int joining);

#endif
