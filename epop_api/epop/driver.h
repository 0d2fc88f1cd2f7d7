/*
 * The driver interface: a table of hooks around the walk through a program. The built-in drivers and
 * a user's own shared object (`--driver ./mine.so`) go through the same table.
 */
#ifndef EPOP_DRIVER_H
#define EPOP_DRIVER_H

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPOP_DRIVER_ABI_VERSION 2u

/* Where a process is in the program. */
typedef struct epop_position {
    const epop_program_t *program;
    int pc;            /* of the present element */
    int64_t visit;     /* elements entered so far, INIT not counted */
    int64_t iteration; /* of the present visit, from 0 */
    int rank, size;    /* in the present world; rank -1 before there is one */
} epop_position_t;

/* The functions of an element. */
typedef enum epop_block {
    EPOP_BLOCK_INIT = 0,
    EPOP_BLOCK_ADAPT = 1,
    EPOP_BLOCK_EXEC = 2,
    EPOP_BLOCK_LOOP = 3,
    EPOP_BLOCK_BRANCH = 4
} epop_block_t;

/* What `loaded` returns besides 0 and an error number: do not walk; the driver has done all there is to do. */
#define EPOP_DRIVER_DONE (-1)

/* One option of a driver, accepted on epop's command line beside its own while this driver is chosen. */
typedef struct epop_driver_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what --help shows for its argument; NULL: takes none */
    const char *help;
} epop_driver_option_t;

/* Flags */
#define EPOP_DRIVER_NO_WALK 1u /* never walks: needs neither MPI nor a launcher */

/* ---- An adaptation, seen from one process --------------------------------------------- */

/* What the library's redistribution moved between this process and another one. */
typedef struct epop_traffic {
    int process; /* the other one's number in the job */
    int64_t sent, received;
} epop_traffic_t;

/* What this process sent and received of one described array (epop/describe.h). */
typedef struct epop_array_traffic {
    const char *name;
    int64_t sent, received;
    int64_t least; /* bytes that it had to receive */
    int64_t ahead; /* bytes that it received before the window, while the ranks computed; not in `received` */
} epop_array_traffic_t;

typedef struct epop_adapted {
    int adaptation;                             /* its number in the job, from 1 */
    int process;                                /* this process's number in the job */
    int old_rank, old_size, new_rank, new_size; /* rank -1 where it is no member */
    const epop_traffic_t *traffic;              /* those above 0; what the block sends by itself is not in it */
    int traffic_count;
    int64_t least; /* bytes that this process had to receive, whoever moves them */
    /* Nanoseconds on this process's CLOCK_MONOTONIC: when it learned what to do, when the library's redistribution
     * began and was over for good (0: there was none), and around epop_adapt_commit. */
    int64_t decided, move_begin, move_end, commit_begin, commit_end;
    const epop_array_traffic_t *arrays; /* of `traffic` what described arrays make up, in the order of their list */
    int array_count;
} epop_adapted_t;

/* ---- The job, as process 0 sees it ------------------------------------------------------- */

/* What a driver's `record` gave in one process. */
typedef struct epop_record {
    int process;
    const char *text;
} epop_record_t;

typedef struct epop_adaptation {
    int id, from, to;
    const char *state; /* "preparing", "prepared", "window", "committed", "failed", "cancelled" */
    const char *by;    /* who asked for it: "epopctl", "program", "phase", ... */
    int pc;            /* where in the program; -1: it has not come to that */
    int64_t visit, iteration;
    const char *reason;                            /* why it failed or was cancelled; "" */
    double requested, prepared, agreed, committed; /* seconds since 1970; 0: it has not come to that */
    /* seconds: the longest that a staying rank stood still; where none stays, from the first old rank's hold to the
     * first new one that goes on */
    double stall;
} epop_adaptation_t;

/* A request that did not become an adaptation. */
typedef struct epop_refusal {
    double time; /* seconds since 1970 */
    const char *reason;
} epop_refusal_t;

/* That the job died by a fault before this start, and was started again by epop --recover. */
typedef struct epop_recovery {
    double time; /* seconds since 1970: it died */
    const char *reason;
    const char *from;   /* "memory", "file" or "beginning" */
    int number, size;   /* of that checkpoint (0: from the beginning); ranks that were started */
    int64_t iterations; /* that were lost */
    double lost;        /* seconds of work: from the checkpoint to the death */
    double seconds;     /* from the death to the first iteration */
} epop_recovery_t;

/* A checkpoint that is complete: restarts can begin at it. */
typedef struct epop_checkpoint {
    int number;        /* goes on over restarts */
    const char *level; /* "file", "memory" */
    const char *path;  /* of the file; "" */
    int pc;
    int64_t visit, iteration; /* that comes next */
    int64_t bytes;            /* that were written, of all ranks */
    double time;              /* seconds since 1970: when it was complete */
    double seconds, stall;    /* that it took to be made; that the ranks stood still for it */
} epop_checkpoint_t;

typedef enum epop_job_end {
    EPOP_JOB_RUNNING, /* it has not ended: should it be killed, this was the last that was known */
    EPOP_JOB_ENDED,
    EPOP_JOB_STOPPED,
    EPOP_JOB_FAILED
} epop_job_end_t;

typedef struct epop_job {
    const char *id, *path;
    const char *backend; /* NULL: a program without MPI */
    int size;            /* at the start */
    double started, now; /* seconds since 1970 */
    epop_job_end_t end;
    const char *reason; /* of STOPPED and FAILED, one line; else NULL */
    int quiet;          /* epop --quiet: nothing that is no error is to be printed */
    const epop_adaptation_t *adaptations;
    int adaptation_count;
    const epop_refusal_t *refusals;
    int refusal_count;
    const epop_record_t *records; /* of this driver, by process; of one process in the order they were made */
    int record_count;
    const epop_recovery_t *recoveries; /* in their order: before this start, all of them */
    int recovery_count;
    const epop_checkpoint_t *checkpoints; /* of this start, in the order they were made */
    int checkpoint_count;
} epop_job_t;

/* ---- The table ---------------------------------------------------------------------------- */

/*
 * The table. Hooks run in the program's thread, on every rank, and must not block longer than they have
 * to; none is collective unless it makes it so on epop_world(). Every hook may be NULL. `state` is what
 * `open` stored.
 */
typedef struct epop_driver {
    unsigned abi_version; /* EPOP_DRIVER_ABI_VERSION */
    unsigned struct_size; /* sizeof(epop_driver_t): hooks added later are absent in older drivers */
    const char *name;
    const char *summary; /* one line for --help */
    unsigned flags;
    const epop_driver_option_t *options; /* ends with a NULL name; may be NULL */

    int (*open)(void **state);                                           /* before anything else */
    int (*option)(void *state, const char *name, const char *value);     /* once per option given */
    int (*loaded)(void *state, const epop_program_t *program, int rank); /* validated; nothing ran yet */
    void (*element_enter)(void *state, const epop_position_t *position); /* any element, INIT too */
    void (*element_leave)(void *state, const epop_position_t *position);
    void (*iteration_begin)(void *state, const epop_position_t *position); /* EP and RP, after the probe */
    void (*iteration_end)(void *state, const epop_position_t *position);
    void (*adaptation_begin)(void *state, const epop_position_t *position); /* before the adapt block */
    void (*adaptation_end)(void *state, const epop_position_t *position);   /* after it; on leaving ranks too */
    void (*finished)(void *state, const epop_position_t *position);         /* the walk ended well */
    void (*failed)(void *state, const epop_position_t *position, int error);
    void (*close)(void *state);

    /* A probe stands still, or a joining process waits: for an agreement, in a pause, in an adaptation, which comes
     * between the two. After hold_end the phase goes on; rank -1: this process has left. */
    void (*hold_begin)(void *state, const epop_position_t *position);
    void (*hold_end)(void *state, const epop_position_t *position);
    /* What the adapt block moved; before adaptation_end. */
    void (*adapted)(void *state, const epop_position_t *position, const epop_adapted_t *adapted);
    /* One line of text on the error number that a hook has just returned; NULL: there is none. */
    const char *(*explain)(void *state);

    /*
     * Results that are merged in process 0. `record` gives what this process has, as text (from malloc(); NULL:
     * nothing), which travels there over the control plane. last: this process leaves the program (and may join again)
     * or the program has ended; the text is kept, and record begins anew. Else it is asked by another thread while
     * the program's thread runs, hangs or has crashed, and the text replaces the last one of that kind.
     * `write` is called in process 0 by a thread of its own: at the end, on a failure, and for checkpoints, which are
     * all that is left when everything is killed at once. 0, or an error number (it has told of that): a job whose
     * result is not there at the end has status 1 on every rank, also if the program itself ended well.
     */
    char *(*record)(void *state, int last);
    int (*write)(void *state, const epop_job_t *job);
    double (*checkpoint)(void *state); /* seconds from one to the next; 0, or no hook: none are made */

    /* Around every block, nearest to it; the position is where the block is called. data is the program's data pointer
     * as it is then. A block that returned an error number is left too; decided is told of what a loop condition (0: no
     * further iteration) or a branch (the next pc) answered. */
    void (*block_enter)(void *state, const epop_position_t *position, epop_block_t block, void *data);
    void (*block_leave)(void *state, const epop_position_t *position, epop_block_t block, void *data);
    void (*decided)(void *state, const epop_position_t *position, int answer);
} epop_driver_t;

/* What a driver's shared object exports. */
EPOP_EXPORT const epop_driver_t *epop_get_driver(void);

#ifdef __cplusplus
}
#endif
#endif
